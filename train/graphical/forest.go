package graphical

import (
	"slices"
)

// forest is a junction forest that grows by pairs: cliques, and links between them
// such that the cliques of every column are connected. A clique that was taken into
// another is nil.
type forest struct {
	dom     []int
	cliques []Set
	links   [][]int
	total   int64
}

func newForest(dom []int) *forest {
	f := &forest{dom: dom, links: make([][]int, len(dom))}
	for c, n := range dom {
		f.cliques = append(f.cliques, Set{c})
		f.total = plus(f.total, int64(n))
	}
	return f
}

// add brings the columns of a set into one clique, pair by pair: in a chordal graph
// columns that are linked in pairs share a clique. Where that passes the limits the
// forest stays as it was.
func (f *forest) add(s Set, l Limits) bool {
	before := *f
	if len(s) > 2 {
		before.cliques, before.links = slices.Clone(f.cliques), make([][]int, len(f.links))
		for i, links := range f.links {
			before.links[i] = slices.Clone(links)
		}
	}
	for j, b := range s {
		for _, a := range s[:j] {
			if !f.pair(a, b, l) {
				*f = before
				return false
			}
		}
	}
	return true
}

// pair brings two columns into one clique: two trees are joined by a new clique; in
// one tree a column is carried along the path to the other, from the cheaper end.
func (f *forest) pair(a, b int, l Limits) bool {
	path := f.path(a, b)
	var best chain
	switch {
	case len(path) == 1:
		return true
	case path == nil:
		best = f.join(a, b)
	default:
		shared := f.shared(path)
		best = f.carry(path, shared, a, b)
		slices.Reverse(path)
		slices.Reverse(shared)
		if back := f.carry(path, shared, b, a); back.growth < best.growth {
			best = back
		}
	}
	if best.growth > 0 && (best.largest > l.Clique || plus(f.total, best.growth) > l.Total) {
		return false
	}
	f.apply(best)
	f.compact()
	return true
}

// shared returns what the neighbours on a path share.
func (f *forest) shared(path []int) []Set {
	list := make([]Set, len(path)-1)
	for i := range list {
		list[i] = f.cliques[path[i]].and(f.cliques[path[i+1]])
	}
	return list
}

// compact leaves out the cliques that were taken into others, once they are the most: a
// search would pass all of them. The others keep their order.
func (f *forest) compact() {
	if len(f.cliques) <= 2*len(f.dom)+8 { // a chordal graph has no more maximal cliques than columns
		return
	}
	dst, n := make([]int, len(f.cliques)), 0
	for i, c := range f.cliques {
		if c != nil {
			dst[i], f.cliques[n], f.links[n] = n, c, f.links[i]
			n++
		}
	}
	f.cliques, f.links = f.cliques[:n], f.links[:n]
	for _, links := range f.links {
		for k, o := range links {
			links[k] = dst[o]
		}
	}
}

// path returns the cliques from one that holds a to one that holds b, the nearest two; a
// clique that holds both is a path of one. It is nil between two trees.
func (f *forest) path(a, b int) []int {
	src := make([]int, len(f.cliques)) // 1 + the clique before, 0: not seen
	var queue []int
	for i, c := range f.cliques {
		if c.has(a) {
			src[i], queue = i+1, append(queue, i)
		}
	}
	for len(queue) > 0 {
		pos := queue[0]
		if f.cliques[pos].has(b) {
			return backward(src, pos)
		}
		queue = queue[1:]
		for _, next := range f.links[pos] {
			if src[next] == 0 {
				src[next], queue = pos+1, append(queue, next)
			}
		}
	}
	return nil
}

func backward(src []int, pos int) []int {
	path := []int{pos}
	for src[pos]-1 != pos {
		pos = src[pos] - 1
		path = append(path, pos)
	}
	slices.Reverse(path)
	return path
}

// chain is a change of a forest: cliques added between the cliques of a path.
type chain struct {
	path    []int // cliques of the forest
	added   []Set // added[i] stands before path[i+1] and takes its link to path[i]
	growth  int64 // cells of the cliques that become maximal less those that no longer are
	largest int64
}

// join returns the chain that links two trees by a clique of two columns.
func (f *forest) join(a, b int) chain {
	c := chain{path: []int{f.holder(a), f.holder(b)}, added: []Set{Set{a}.or(Set{b})}}
	f.price(&c)
	return c
}

func (f *forest) holder(column int) int {
	return slices.IndexFunc(f.cliques, func(c Set) bool { return c.has(column) })
}

// carry returns the chain that brings column a along a path to column b: between two
// cliques it needs what they share, and what the next two share.
func (f *forest) carry(path []int, shared []Set, a, b int) chain {
	c := chain{path: slices.Clone(path), added: make([]Set, len(shared))}
	for i := range shared {
		next := Set{b}
		if i+1 < len(shared) {
			next = shared[i+1]
		}
		c.added[i] = shared[i].or(next).or(Set{a})
	}
	f.price(&c)
	return c
}

// price counts the cells of what is maximal after the change less those before.
func (f *forest) price(c *chain) {
	family := slices.Grow(slices.Clone(c.added), len(c.path))
	for _, p := range c.path {
		family = append(family, f.cliques[p])
		c.growth -= cellsOf(f.dom, f.cliques[p])
	}
	for i, s := range family {
		if covered(family, i) {
			continue
		}
		cells := cellsOf(f.dom, s)
		c.growth, c.largest = plus(c.growth, cells), max(c.largest, cells)
	}
}

// covered reports whether a set is within another of the family; of equal ones the
// first counts.
func covered(family []Set, i int) bool {
	for j, o := range family {
		if j != i && family[i].within(o) && (len(family[i]) < len(o) || j < i) {
			return true
		}
	}
	return false
}

// apply links the added cliques in and takes those that are not maximal into a
// neighbour.
func (f *forest) apply(c chain) {
	last, fresh := c.path[0], []int{}
	for i, s := range c.added {
		n := len(f.cliques)
		f.cliques, f.links = append(f.cliques, s), append(f.links, nil)
		f.unlink(c.path[i], c.path[i+1])
		f.link(last, n)
		f.link(n, c.path[i+1])
		last, fresh = n, append(fresh, n)
	}
	f.total += c.growth
	for _, n := range append(fresh, c.path...) {
		f.absorb(n)
	}
}

// absorb gives the links of a clique that is within a neighbour to that neighbour.
func (f *forest) absorb(n int) {
	pos := slices.IndexFunc(f.links[n], func(o int) bool { return f.cliques[n].within(f.cliques[o]) })
	if pos < 0 {
		return
	}
	dst := f.links[n][pos]
	for _, o := range slices.Clone(f.links[n]) {
		f.unlink(n, o)
		if o != dst {
			f.link(dst, o)
		}
	}
	f.cliques[n] = nil
}

func (f *forest) link(a, b int) {
	f.links[a], f.links[b] = append(f.links[a], b), append(f.links[b], a)
}

func (f *forest) unlink(a, b int) {
	drop := func(from, what int) {
		f.links[from] = slices.DeleteFunc(f.links[from], func(o int) bool { return o == what })
	}
	drop(a, b)
	drop(b, a)
}
