package columns

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"weir/pipeline/domain"
	"weir/train/marginal"
)

// Mask is the combinations of codes of some columns that no row may have: structural
// zeros. Vars are places of columns, ascending; Forbidden is by combination, row-major,
// the last column fastest.
type Mask struct {
	Vars      []int
	Forbidden []bool
}

// MasksOf returns the mask of every rule that forbids something. bins are, by column of the domain,
// the set of values of each code, missing and merged categories included; columns of no
// rule need none. most bounds the combinations of one rule; the error names the rule.
func MasksOf(d *domain.Domain, rules []domain.Rule, bins [][]domain.Values, most int64) ([]Mask, error) {
	var list []Mask
	for i := range rules {
		m, err := maskOf(d, rules[i], bins, most)
		if err != nil {
			return nil, err
		}
		if slices.Contains(m.Forbidden, true) {
			list = append(list, m)
		}
	}
	return list, nil
}

func maskOf(d *domain.Domain, r domain.Rule, bins [][]domain.Values, most int64) (Mask, error) {
	m := Mask{Vars: slices.Sorted(slices.Values(r.Columns))}
	cells := int64(1)
	var mine [][]domain.Values
	for _, pos := range r.Columns {
		if cells *= int64(len(bins[pos])); cells > most {
			return m, fmt.Errorf("the rule %s has more than %d combinations of codes, must have fewer: take fewer bins, or "+
				"leave the rule out", r.Label, most)
		}
		mine = append(mine, bins[pos])
	}
	m.Forbidden = transposed(domain.Forbidden(d, &r, mine), r.Columns, m.Vars, bins)
	return m, nil
}

// transposed brings combinations in the order of columns `from` to the order of columns `to`.
func transposed(forbidden []bool, src, dst []int, bins [][]domain.Values) []bool {
	out, code := make([]bool, len(forbidden)), make([]int, len(bins))
	for cell := range forbidden {
		rest := cell
		for i := len(src) - 1; i >= 0; i-- {
			code[src[i]], rest = rest%len(bins[src[i]]), rest/len(bins[src[i]])
		}
		pos := 0
		for _, column := range dst {
			pos = pos*len(bins[column]) + code[column]
		}
		out[pos] = forbidden[cell]
	}
	return out
}

// NearestAllowed takes rows that masks forbid to the nearest ones that they allow, so that a
// model which cannot hold a combination is not asked to: by the least sum of code
// differences, in the order of the domain; of equally near ones, by the least change of
// the earlier column, downwards first. It is a public rule that looks at one row, so it
// changes no sensitivity; whether it did anything is told to nobody.
type NearestAllowed struct {
	sizes  []int
	groups []group
}

// group is masks that share columns.
type group struct {
	columns []int
	masks   []Mask
	due     [][]Mask // by column of the group, the masks that can be judged then
	known   map[string][]uint16
	all     []int32 // of each combination of codes, row-major, the one that it goes to; nil: not computed
}

// mostTabled is the most combinations of a group whose moves are computed for all at once, which takes about as long as
// for a few thousand of them one by one.
const mostTabled = 1 << 18

// NewNearestAllowed returns the rule that masks impose on codes; sizes has one entry for each column.
func NewNearestAllowed(masks []Mask, sizes []int) *NearestAllowed {
	n := &NearestAllowed{sizes: sizes}
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
func (n *NearestAllowed) Groups() (list [][]int) {
	for _, g := range n.groups {
		list = append(list, g.columns)
	}
	return list
}

// Codes changes codes, by column, of every row that a mask forbids.
func (n *NearestAllowed) Codes(codes [][]uint16) {
	for i := range n.groups {
		g := &n.groups[i]
		if cells := n.combinations(g); cells <= mostTabled && g.all == nil && len(codes[g.columns[0]]) > 0 {
			g.all = n.table(g, cells)
		}
		for row := range codes[g.columns[0]] {
			if !n.allowed(g.masks, func(c int) int { return int(codes[c][row]) }) {
				n.move(g, codes, row)
			}
		}
	}
}

// allowed tells whether no mask forbids the codes.
func (n *NearestAllowed) allowed(masks []Mask, code func(column int) int) bool {
	for _, m := range masks {
		pos := 0
		for _, c := range m.Vars {
			pos = pos*n.sizes[c] + code(c)
		}
		if m.Forbidden[pos] {
			return false
		}
	}
	return true
}

// combinations returns how many there are of the codes of a group, or one more than a table may have.
func (n *NearestAllowed) combinations(g *group) int {
	cells := 1
	for _, c := range g.columns {
		cells = min(cells*n.sizes[c], marginal.MostCells+1)
	}
	return cells
}

// table returns where each combination of the codes of a group goes. Column by column, from the last, it takes from the
// combinations that differ in that column and later ones alone the nearest; of equally near ones, as seek finds them
// first, the one with the least change of the column, downwards first.
func (n *NearestAllowed) table(g *group, cells int) []int32 {
	dst, away := make([]int32, cells), make([]int32, cells)
	code := make([]int, len(n.sizes))
	for pos := range dst {
		for i, rest := len(g.columns)-1, pos; i >= 0; i-- {
			c := g.columns[i]
			code[c], rest = rest%n.sizes[c], rest/n.sizes[c]
		}
		if dst[pos] = int32(pos); !n.allowed(g.masks, func(c int) int { return code[c] }) {
			away[pos] = math.MaxInt32
		}
	}
	for i, stride := len(g.columns)-1, 1; i >= 0; i-- {
		size := n.sizes[g.columns[i]]
		dst, away = nearer(dst, away, size, stride)
		stride *= size
	}
	return dst
}

// nearer returns, for each combination of codes, the nearest allowed one and its distance where one more column may
// differ, which has size codes that are stride places apart. dst and away are both where it may not.
func nearer(dst, away []int32, size, stride int) (nextTo, nextAway []int32) {
	nextTo, nextAway = slices.Clone(dst), slices.Clone(away)
	for pos := range dst {
		code := pos / stride % size
		for step := 1; step < size && int32(step) < nextAway[pos]; step++ {
			for _, by := range []int{-step, step} {
				if other := code + by; other >= 0 && other < size && away[pos+by*stride] < nextAway[pos]-int32(step) {
					nextTo[pos], nextAway[pos] = dst[pos+by*stride], away[pos+by*stride]+int32(step)
				}
			}
		}
	}
	return nextTo, nextAway
}

// moveByTable moves a row as the table of its group says.
func (n *NearestAllowed) moveByTable(g *group, codes [][]uint16, row int) {
	pos := 0
	for _, c := range g.columns {
		pos = pos*n.sizes[c] + int(codes[c][row])
	}
	rest := int(g.all[pos])
	for _, c := range slices.Backward(g.columns) {
		codes[c][row], rest = uint16(rest%n.sizes[c]), rest/n.sizes[c]
	}
}

func (n *NearestAllowed) move(g *group, codes [][]uint16, row int) {
	if g.all != nil {
		n.moveByTable(g, codes, row)
		return
	}
	var key []byte
	old := make([]uint16, len(g.columns))
	for i, c := range g.columns {
		old[i] = codes[c][row]
		key = binary.LittleEndian.AppendUint16(key, old[i])
	}
	dst, known := g.known[string(key)]
	if !known {
		dst = n.nearest(g, old)
		g.known[string(key)] = dst
	}
	for i, c := range g.columns {
		codes[c][row] = dst[i]
	}
}

// nearest looks at all rows within a distance, then within a greater one. Where the masks
// allow no row at all it gives back the row.
func (n *NearestAllowed) nearest(g *group, old []uint16) []uint16 {
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
	n        *NearestAllowed
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
	first, size := int(s.old[depth]), s.n.sizes[s.g.columns[depth]]
	for step := 0; away+step <= s.left && step < size; step++ {
		for _, code := range []int{first - step, first + step} {
			if code < 0 || code >= size || step == 0 && code != first || away+step > s.left {
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

// Redraws is how often the values of a row are drawn again inside its bins before they
// are taken from the boundary of what the rules allow.
const Redraws = 32

// mostSteps bounds one search for that boundary. All of them together have startSteps and
// stepsARow for each row: rules may come with a model from anyone, and such as make each
// search long would else hold up a drawing for hours. Rows whose search is out of steps
// have the values of the first row that keeps the rules.
const (
	mostSteps  = 1 << 16
	startSteps = 1 << 22
	stepsARow  = 1 << 8
)

// Placing puts the values of drawn rows where they keep every rule.
type Placing struct {
	domain *domain.Domain
	groups []domain.Component
	safe   []map[int]float64 // by group, the least row that keeps its rules
	steps  int               // left of all searches
}

// NewPlacing prepares it. It is an error, which names rules, that no row is found which
// keeps them.
func NewPlacing(d *domain.Domain, rules []domain.Rule) (*Placing, error) {
	p := &Placing{domain: d, steps: startSteps}
	all := make([]*domain.Rule, len(rules))
	for i := range rules {
		all[i] = &rules[i]
	}
	for _, g := range domain.Components(all) {
		safe, found, _ := domain.FindRow(d, g.Rules, nil, mostSteps)
		if found != domain.FoundRow {
			return nil, unfound(g)
		}
		p.groups, p.safe = append(p.groups, g), append(p.safe, safe)
	}
	return p, nil
}

func unfound(g domain.Component) error {
	r := g.Rules[0]
	return fmt.Errorf("constraints[%d]: is one of %d rules that share columns and of which no row is found that keeps "+
		"all, in %d steps; must be such that one is", r.Place, len(g.Rules), mostSteps)
}

// Columns returns those that rules are about: places in the domain, ascending within a group
// of rules that share columns.
func (p *Placing) Columns() []int {
	var list []int
	for _, g := range p.groups {
		list = append(list, g.Columns...)
	}
	return list
}

// PlacedRow is one drawn row: its values by column of the domain (NaN is missing), how a value
// is drawn again inside the row's bin of a column, and which values that bin has.
type PlacedRow struct {
	Values []float64
	Draw   func(column int) float64
	Bin    func(column int) domain.Values
}

// Keep changes the values of a row until it keeps every rule: drawn again inside their
// bins, at most Redraws times; else the least values of the bins that keep the rules; else,
// where the bins together hold none, or none is found in time, least values of the domain.
func (p *Placing) Keep(row PlacedRow) {
	p.steps = min(p.steps+stepsARow, startSteps)
	for i := range p.groups {
		g := &p.groups[i]
		for n := 0; n < Redraws && p.redraw(g, row); n++ {
		}
		if p.broken(g, row.Values) != nil {
			p.boundary(i, row)
		}
	}
}

// Broken returns the columns of a rule that the values of a row break; nil where they keep all.
func (p *Placing) Broken(values []float64) []int {
	for i := range p.groups {
		if r := p.broken(&p.groups[i], values); r != nil {
			return r.Columns
		}
	}
	return nil
}

// redraw draws the columns of a broken rule again; false where none is broken.
func (p *Placing) redraw(g *domain.Component, row PlacedRow) bool {
	r := p.broken(g, row.Values)
	if r == nil {
		return false
	}
	for _, column := range r.Columns {
		row.Values[column] = row.Draw(column)
	}
	return true
}

// broken returns the first rule that a row breaks; nil where it keeps all.
func (p *Placing) broken(g *domain.Component, values []float64) *domain.Rule {
	var room [8]float64
	for _, r := range g.Rules {
		mine := room[:0]
		for _, column := range r.Columns {
			mine = append(mine, values[column])
		}
		if !r.Keeps(mine) {
			return r
		}
	}
	return nil
}

func (p *Placing) boundary(group int, row PlacedRow) {
	g, within := &p.groups[group], map[int]domain.Values{}
	for _, column := range g.Columns {
		within[column] = row.Bin(column)
	}
	values, found, took := p.safe[group], domain.MaybeRow, 0
	if p.steps > 0 {
		values, found, took = domain.FindRow(p.domain, g.Rules, within, min(mostSteps, p.steps))
	}
	if p.steps -= took; found != domain.FoundRow {
		values = p.safe[group]
	}
	for column, v := range values {
		row.Values[column] = v
	}
}
