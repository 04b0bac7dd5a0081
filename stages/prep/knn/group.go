package knn

import "math"

// pattern is the set of donors that observe the same columns.
type pattern struct {
	mask string // one byte a column: 1 where it is observed
	rows []int32
}

// byPattern splits rows by their missing values, in order of first appearance.
func (x *Index) byPattern(rows []int32) []*pattern {
	found := map[string]*pattern{}
	var list []*pattern
	mask := make([]byte, len(x.data))
	for _, r := range rows {
		for c := range x.data {
			mask[c] = 1
			if math.IsNaN(x.data[c][r]) {
				mask[c] = 0
			}
		}
		g := found[string(mask)]
		if g == nil {
			g = &pattern{mask: string(mask)}
			found[g.mask] = g
			list = append(list, g)
		}
		g.rows = append(g.rows, r)
	}
	return list
}

// group is the k-d tree of one pattern.
type group struct {
	mask   string
	width  int
	rows   []int32   // donors in tree order
	points []float64 // their scaled features, width numbers a donor, in the order of summation
	nodes  []node
	boxes  []float64 // 2*width numbers a node: least and greatest value of each feature
}

// node covers rows[start:end]; a leaf has no right child. The left child of
// node i is node i+1.
type node struct {
	start, end, right int32
	first             int32 // the lowest row inside
}

func (x *Index) plant(mask string, rows []int32) *group {
	g := &group{mask: mask, width: x.width, rows: append([]int32(nil), rows...)}
	b := &builder{group: g, index: x, leaf: x.opt.LeafRows}
	b.build(0, len(g.rows))
	g.points = make([]float64, len(g.rows)*g.width)
	for i, r := range g.rows {
		for j, c := range x.order {
			if mask[c] == 1 {
				g.points[i*g.width+j] = x.data[c][r] * x.scale(c)
			}
		}
	}
	return g
}

func (g *group) box(n int32) []float64 {
	return g.boxes[int(n)*2*g.width : int(n+1)*2*g.width]
}
