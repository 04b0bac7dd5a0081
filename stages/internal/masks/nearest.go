package masks

import (
	"encoding/binary"
	"slices"
)

// Nearest takes rows that masks forbid to the nearest ones that they allow, so that a
// model which cannot hold a combination is not asked to: by the least sum of code
// differences, in the order of the domain; of equally near ones, by the least change of
// the earlier column, downwards first. It is a public rule that looks at one row, so it
// changes no sensitivity; whether it did anything is told to nobody.
type Nearest struct {
	sizes  []int
	groups []group
}

// group is masks that share columns.
type group struct {
	columns []int
	masks   []Mask
	due     [][]Mask // by column of the group, the masks that can be judged then
	known   map[string][]uint16
}

// NewNearest prepares the rule for codes of the given sizes, by column.
func NewNearest(masks []Mask, sizes []int) *Nearest {
	n := &Nearest{sizes: sizes}
	for _, m := range masks {
		one := group{columns: slices.Clone(m.Vars), masks: []Mask{m}}
		n.groups = slices.DeleteFunc(n.groups, func(g group) bool {
			touches := slices.ContainsFunc(g.columns, func(c int) bool { return slices.Contains(one.columns, c) })
			if touches {
				one.columns, one.masks = append(one.columns, g.columns...), append(g.masks, one.masks...)
			}
			return touches
		})
		slices.Sort(one.columns)
		one.columns = slices.Compact(one.columns)
		n.groups = append(n.groups, one)
	}
	for i := range n.groups {
		n.groups[i].link()
	}
	return n
}

func (g *group) link() {
	g.due, g.known = make([][]Mask, len(g.columns)), map[string][]uint16{}
	for _, m := range g.masks {
		last := slices.Index(g.columns, m.Vars[len(m.Vars)-1])
		g.due[last] = append(g.due[last], m)
	}
}

// Groups returns the columns, ascending, that masks tie to each other: the codes of each group move by its own alone.
func (n *Nearest) Groups() (list [][]int) {
	for _, g := range n.groups {
		list = append(list, g.columns)
	}
	return list
}

// Codes changes codes, by column, of every row that a mask forbids.
func (n *Nearest) Codes(codes [][]uint16) {
	for i := range n.groups {
		g := &n.groups[i]
		for row := range codes[g.columns[0]] {
			if !n.allowed(g.masks, func(c int) int { return int(codes[c][row]) }) {
				n.move(g, codes, row)
			}
		}
	}
}

// allowed tells whether no mask forbids the codes.
func (n *Nearest) allowed(masks []Mask, code func(column int) int) bool {
	for _, m := range masks {
		at := 0
		for _, c := range m.Vars {
			at = at*n.sizes[c] + code(c)
		}
		if m.Forbidden[at] {
			return false
		}
	}
	return true
}

func (n *Nearest) move(g *group, codes [][]uint16, row int) {
	var key []byte
	old := make([]uint16, len(g.columns))
	for i, c := range g.columns {
		old[i] = codes[c][row]
		key = binary.LittleEndian.AppendUint16(key, old[i])
	}
	to, known := g.known[string(key)]
	if !known {
		to = n.nearest(g, old)
		g.known[string(key)] = to
	}
	for i, c := range g.columns {
		codes[c][row] = to[i]
	}
}

// nearest looks at all rows within a distance, then within a greater one. Where the masks
// allow no row at all it gives back the row.
func (n *Nearest) nearest(g *group, old []uint16) []uint16 {
	most := 0
	for _, c := range g.columns {
		most += n.sizes[c]
	}
	for reach := 1; ; reach++ {
		if reach > 32 {
			reach += reach / 8
		}
		s := seeking{n: n, g: g, old: old, row: slices.Clone(old), left: min(reach, most)}
		if s.seek(0, 0); s.best != nil || reach >= most {
			return slices.Concat(s.best, old)[:len(old)]
		}
	}
}

// seeking is one search within a distance.
type seeking struct {
	n        *Nearest
	g        *group
	old, row []uint16
	best     []uint16
	left     int // that a row may be away: less than the best
}

func (s *seeking) seek(depth, away int) {
	if depth == len(s.row) {
		s.best, s.left = slices.Clone(s.row), away-1
		return
	}
	from, size := int(s.old[depth]), s.n.sizes[s.g.columns[depth]]
	for step := 0; away+step <= s.left && step < size; step++ {
		for _, code := range []int{from - step, from + step} {
			if code < 0 || code >= size || step == 0 && code != from || away+step > s.left {
				continue
			}
			s.row[depth] = uint16(code)
			if s.n.allowed(s.g.due[depth], func(c int) int { return int(s.row[slices.Index(s.g.columns, c)]) }) {
				s.seek(depth+1, away+step)
			}
			if step == 0 {
				break
			}
		}
	}
}
