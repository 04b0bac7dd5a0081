package nearest

import "slices"

// builder splits rows between two values of their widest column until a leaf is
// small.
type builder struct {
	tree   *Tree
	points []float64 // in the order of rows
	order  []int32   // places of rows, in tree order when done
	leaf   int
	extent func(column int, gap float64) float64
}

// New indexes rows, ascending, whose columns stand in points one row after the
// other. Leaves hold up to leaf rows. extent says how much a gap between two values
// of a column counts when the widest is split; NaN is never split. Memory is a copy
// of the points and two numbers a column for each node.
func New(points []float64, width int, rows []int32, leaf int, extent func(column int, gap float64) float64) *Tree {
	b := &builder{tree: &Tree{width: width}, points: points, order: make([]int32, len(rows)), leaf: leaf, extent: extent}
	for i := range b.order {
		b.order[i] = int32(i)
	}
	if len(rows) > 0 {
		b.build(0, int32(len(rows)))
	}
	t := b.tree
	t.rows, t.points = make([]int32, len(rows)), make([]float64, 0, len(points))
	for i, place := range b.order {
		t.rows[i], t.points = rows[place], append(t.points, b.row(place)...)
	}
	for i := range t.nodes {
		t.nodes[i].first = rows[t.nodes[i].first]
	}
	return t
}

func (b *builder) row(place int32) []float64 {
	w := b.tree.width
	return b.points[int(place)*w : int(place+1)*w]
}

// build makes the node of order[start:end] and those below it.
func (b *builder) build(start, end int32) {
	t, part := b.tree, b.order[start:end]
	n := len(t.nodes)
	t.nodes = append(t.nodes, node{start: start, end: end, first: slices.Min(part)})
	widest := b.measure(part)
	if len(part) <= b.leaf {
		return
	}
	middle := start + int32(len(part)/2)
	if widest < 0 {
		slices.Sort(part) // equal points: the lower rows to the left, so that ties end the search
	} else {
		middle = start + b.halve(part, widest)
	}
	b.build(start, middle)
	t.nodes[n].right = int32(len(t.nodes))
	b.build(middle, end)
}

// measure appends the box of a part and returns its widest column, or -1 where all
// points are equal.
func (b *builder) measure(part []int32) int {
	t, from := b.tree, len(b.tree.boxes)
	for _, v := range b.row(part[0]) {
		t.boxes = append(t.boxes, v, v)
	}
	box := t.boxes[from:]
	for _, place := range part[1:] {
		for j, v := range b.row(place) {
			if v < box[2*j] {
				box[2*j] = v
			}
			if v > box[2*j+1] {
				box[2*j+1] = v
			}
		}
	}
	widest, most := -1, 0.0
	for j := range t.width {
		if w := b.extent(j, box[2*j+1]-box[2*j]); w > most {
			widest, most = j, w
		}
	}
	return widest
}

// halve puts places with small values of a column first and returns where the
// others start: near the middle of a sample, between two different values. The
// column has two different values.
func (b *builder) halve(part []int32, column int) int32 {
	pivot := b.median(part, column)
	if cut := b.partition(part, column, func(v float64) bool { return v < pivot }); cut > 0 {
		return cut
	}
	return b.partition(part, column, func(v float64) bool { return v <= pivot })
}

// sampledRows is the number of rows whose median splits a node.
const sampledRows = 31

func (b *builder) median(part []int32, column int) float64 {
	var values [sampledRows]float64
	for k := range values {
		values[k] = b.row(part[k*len(part)/sampledRows])[column]
	}
	slices.Sort(values[:])
	return values[sampledRows/2]
}

// partition puts the places whose value is low first and counts them.
func (b *builder) partition(part []int32, column int, low func(float64) bool) int32 {
	n := int32(0)
	for k, place := range part {
		if low(b.row(place)[column]) {
			part[n], part[k] = part[k], part[n]
			n++
		}
	}
	return n
}
