package graphical

// view reads a table along some of its axes, the axes of a part. The part's place of
// a row of cells is outer[i] + inner[j]; the row then runs over the last axes of the
// table, all of them in the part (step true: the place moves with the cell) or none
// (one place a row). Two short lists instead of one long keep the places in cache.
type view struct {
	outer, inner []int32
	run          int // cells of a row
	step         bool
	cells        int // of the part
}

// innerPlaces bounds the shorter list of places.
const innerPlaces = 1 << 10

// newView is the view of a table of axes dims in which in marks the part's.
func newView(dims []int, in []bool) view {
	v := view{run: 1, cells: 1}
	strides := make([]int, len(dims))
	for i := len(dims) - 1; i >= 0; i-- {
		if in[i] {
			strides[i] = v.cells
			v.cells *= dims[i]
		}
	}
	k := len(dims)
	for ; k > 0 && in[k-1] == in[len(dims)-1]; k-- {
		v.run *= dims[k-1]
	}
	v.step = len(dims) > 0 && in[len(dims)-1]
	split, places := k, 1
	for ; split > 0 && places*dims[split-1] <= innerPlaces; split-- {
		places *= dims[split-1]
	}
	v.outer, v.inner = placesOf(dims[:split], strides), placesOf(dims[split:k], strides[split:])
	return v
}

// partOf is the view of a table over axes along the columns of part.
func partOf(dom []int, axes []int, part Set) view {
	in := make([]bool, len(axes))
	for i, c := range axes {
		in[i] = part.has(c)
	}
	return newView(sizes(dom, axes), in)
}

// placesOf is the place of every combination of dims, the last fastest.
func placesOf(dims, strides []int) []int32 {
	places := []int32{0}
	for i, n := range dims {
		next := make([]int32, 0, len(places)*n)
		for _, p := range places {
			for code := range n {
				next = append(next, p+int32(code*strides[i]))
			}
		}
		places = next
	}
	return places
}
