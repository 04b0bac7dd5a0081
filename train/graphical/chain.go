package graphical

import "slices"

// chain is a change of a forest: cliques added between those of a path.
type chain struct {
	path    []int // cliques of the forest
	added   []Set // added[i] stands before path[i+1] and takes its link to path[i]
	growth  int64 // cells of the cliques that become maximal less those that no longer are
	largest int64
}

// join is the chain that links two trees by a clique of two columns.
func (f *forest) join(a, b int) chain {
	c := chain{path: []int{f.holder(a), f.holder(b)}, added: []Set{Set{a}.or(Set{b})}}
	f.price(&c)
	return c
}

func (f *forest) holder(column int) int {
	return slices.IndexFunc(f.cliques, func(c Set) bool { return c.has(column) })
}

// carry is the chain that brings column a along a path to column b: between two
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
	at := slices.IndexFunc(f.links[n], func(o int) bool { return f.cliques[n].within(f.cliques[o]) })
	if at < 0 {
		return
	}
	into := f.links[n][at]
	for _, o := range slices.Clone(f.links[n]) {
		f.unlink(n, o)
		if o != into {
			f.link(into, o)
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
