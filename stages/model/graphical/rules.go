package graphical

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"weir/internal/bitmath"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/train/graphical"
	"weir/train/histogram"
)

// Rules of the domain (docs/spec.md). A model holds them as structural zeros: their
// columns share a clique, combinations of codes that no row may have are masked, rows of
// the source that break a rule are counted where the nearest allowed row would be (a rule
// that looks at one row, so that no sensitivity changes), and values inside bins are
// drawn so that they keep every rule.

// mostEdges is the most cuts that rules make in a number's bins; where they would make
// more they make none, and drawing alone keeps the rules.
const mostEdges = 64

// needRules adds a problem for each rule that the table cannot have, before anything is
// paid for: what no row can keep would be a model without rows.
func needRules(d *domain.Domain, ps *schema.Problems) {
	if needRuled(d, ps); len(*ps) > 0 {
		return
	}
	rules, wrong := domain.ReadRules(d)
	if len(wrong) == 0 {
		wrong = domain.Contradictions(d, rules)
	}
	for _, p := range wrong {
		ps.Add("from", "a table whose "+p.Path+" is "+p.Found, p.Accepted)
	}
	if _, err := columns.NewPlacing(d, rules); err != nil && len(wrong) == 0 {
		ps.Add("from", "a table whose "+err.Error(), "rules that are simpler")
	}
}

// needRuled adds a problem for each rule about a column whose values a stage of the same
// run releases: whether any row can keep it would show after the charge.
func needRuled(d *domain.Domain, ps *schema.Problems) {
	for i := range d.Constraints {
		for _, name := range d.Constraints[i].Columns() {
			if c := d.Column(name); c != nil && c.Late {
				ps.Add("from", fmt.Sprintf("a table with a rule (constraints[%d]) about column %s, whose values %s has yet to "+
					"release", i, name, c.Source),
					"a table whose rules are about declared columns, or a spec of its own that takes the released domain")
			}
		}
	}
}

// checkRules adds a problem where the model cannot hold the columns of rules together.
func (s Size) checkRules(d *domain.Domain, numbers Columns, ps *schema.Problems) {
	rules, _ := domain.ReadRules(d)
	if len(rules) == 0 {
		return
	}
	sizes := make([]int, len(d.Columns))
	for j, c := range d.Columns {
		sizes[j] = numbers.mostCodes(c) + len(edgesOf(d, rules, j))
		if c.Type.Coded() {
			sizes[j] = min(len(c.Categories)+1, sizes[j]+slices.Max(partsOf(d, rules, j)))
		}
	}
	if _, err := graphical.NewTree(sizes, tiedSets(rules), s.limits()); err != nil {
		ps.Add("max_model_size", "too small for the columns that the constraints of the domain tie together: "+err.Error(),
			"larger, or fewer bins, categories or constraints")
	}
}

// tiedSets returns the columns that rules tie together.
func tiedSets(rules []domain.Rule) []graphical.Set {
	var sets []graphical.Set
	for _, r := range rules {
		sets = append(sets, graphical.Set(slices.Sorted(slices.Values(r.Columns))))
	}
	return sets
}

// edgesOf returns where rules cut the bins of a number.
func edgesOf(d *domain.Domain, rules []domain.Rule, column int) []float64 {
	edges := domain.Edges(d, rules, column)
	if d.Columns[column].Type.Coded() || len(edges) > mostEdges {
		return nil
	}
	return edges
}

// partsOf numbers the categories of a column, alike where rules do not tell them apart:
// such as share no code. All alike where they would have too many codes.
func partsOf(d *domain.Domain, rules []domain.Rule, column int) []int {
	parts := domain.Parts(d, rules, column)
	if slices.Max(parts) > mostEdges {
		return make([]int, len(parts))
	}
	return parts
}

// parted gives the rare categories, which have the last code together, a code for each
// part.
func (c coded) parted(parts []int) coded {
	last := c.Bins[len(c.Bins)-1]
	if last[1]-last[0] < 2 {
		return c
	}
	rare := make([]int, 0, last[1]-last[0]) // places
	for place := last[0]; place < last[1]; place++ {
		rare = append(rare, place)
	}
	part := func(place int) int { return parts[c.Order[place]] }
	slices.SortStableFunc(rare, func(a, b int) int { return part(a) - part(b) })
	out := coded{Cells: c.Cells, Order: slices.Clone(c.Order), Leaves: slices.Clone(c.Leaves),
		Bins: slices.Clone(c.Bins[:len(c.Bins)-1])}
	for i, first := range rare {
		end := last[0] + i
		out.Order[end], out.Leaves[end].Count = c.Order[first], c.Leaves[first].Count
		if i == 0 || part(first) != part(rare[i-1]) {
			out.Bins = append(out.Bins, [2]int{end, end})
		}
		out.Bins[len(out.Bins)-1][1] = end + 1
	}
	if len(out.Bins) == c.Cells {
		return out.asListed()
	}
	return out
}

// asListed returns a column of a code for each category with the codes in the order of the
// domain: counts by code are then counts by cell, which go by their number alone.
func (c coded) asListed() coded {
	leaves := slices.Clone(c.Leaves)
	for place, cell := range c.Order {
		leaves[cell].Count = c.Leaves[place].Count
	}
	return coded{Cells: c.Cells, Order: slices.Sorted(slices.Values(c.Order)), Leaves: leaves, Bins: c.Bins}
}

// divide cuts leaves and the bins made of them at cells.
func divide(leaves []histogram.Leaf, bins [][2]int, cuts []int) ([]histogram.Leaf, [][2]int) {
	if len(cuts) == 0 {
		return leaves, bins
	}
	places := make([]int, 0, len(bins)+len(cuts))
	for _, b := range bins[1:] {
		places = append(places, leaves[b[0]].Lo)
	}
	places = append(places, cuts...)
	slices.Sort(places)
	places = slices.Compact(places)
	leaves = splitAt(leaves, places)
	return leaves, cutAt(leaves, places)
}

// obey finds the masks of the codes.
func (f *front) obey(grids []columns.Grid) ([]columns.Mask, error) {
	f.spread(grids)
	list, err := columns.MasksOf(f.core, f.rules, f.bins, mostMasked)
	for _, m := range list {
		f.masks = append(f.masks, graphical.Mask{Vars: m.Vars, Forbidden: m.Forbidden})
	}
	return list, err
}

// spread notes the values of each code, by which rules and totals are read.
func (f *front) spread(grids []columns.Grid) {
	for j := range grids {
		f.bins = append(f.bins, f.columns[j].values(grids[j]))
	}
}

// mostMasked is more than the cells of any clique that a plan accepts.
const mostMasked = mostSize * megabyte / bytesPerCell

// values returns the values of each code.
func (c *coded) values(g columns.Grid) []domain.Values {
	list := make([]domain.Values, c.codes())
	if !g.Coded() {
		for code := range list {
			lo, hi := c.cells(code)
			if list[code].Missing = lo >= g.Values(); !list[code].Missing {
				least, _ := g.Interval(lo)
				_, greatest := g.Interval(hi - 1)
				list[code].Ranges = []domain.Range{{Lo: least, Hi: greatest}}
			}
		}
		return list
	}
	for cell, code := range c.codeOf() {
		if cell >= g.Values() {
			list[code].Missing = true
			continue
		}
		list[code].Ranges = append(list[code].Ranges, domain.Range{Lo: float64(cell), Hi: float64(cell)})
	}
	for i := range list {
		slices.SortFunc(list[i].Ranges, func(a, b domain.Range) int { return cmp.Compare(a.Lo, b.Lo) })
	}
	return list
}

const (
	totalRounds = 100  // of scaling: totals that share columns move each other
	totalExact  = 1e-7 // of the rows, by which a cell may be off
)

// scaling brings a model to the public totals of its domain: the model nearest to it, by
// relative entropy, whose cells have the declared shares (iterative proportional fitting,
// Deming and Stephan 1940). It looks at released numbers and public facts alone.
type scaling struct {
	rule  *domain.Rule
	vars  graphical.Set
	cells []int // of the total, by combination of codes; -1: of none
}

// scaled returns the model with the public totals. Bins are cut where cells begin; one that
// lies in two cells all the same counts where its least value does.
func (f *front) scaled(m *graphical.Model, limits graphical.Limits) (*graphical.Model, error) {
	var all []scaling
	p := m.Potentials()
	first := len(p.Factors)
	for i := range f.rules {
		if f.rules[i].Total != nil {
			one := f.scaling(&f.rules[i])
			all = append(all, one)
			p.Factors = append(p.Factors, graphical.Factor{Vars: one.vars, Log: make([]float64, len(one.cells))})
		}
	}
	for range totalRounds {
		off := 0.0
		for i, one := range all {
			amount, err := one.step(m, p.Factors[first+i].Log)
			if err != nil {
				return nil, err
			}
			off = max(off, amount)
			if m, err = graphical.FromPotentials(p, limits); err != nil {
				return nil, err
			}
		}
		if off <= totalExact {
			break
		}
	}
	return m, nil
}

func (f *front) scaling(r *domain.Rule) scaling {
	s := scaling{rule: r, vars: slices.Sorted(slices.Values(r.Columns))}
	sizes := f.sizes()
	s.cells = make([]int, cellsIn(sizes, s.vars))
	code, values := make([]int, len(sizes)), make([]float64, len(r.Columns))
	for cell := range s.cells {
		rest := cell
		for i := len(s.vars) - 1; i >= 0; i-- {
			code[s.vars[i]], rest = rest%sizes[s.vars[i]], rest/sizes[s.vars[i]]
		}
		for i, j := range r.Columns {
			values[i] = math.NaN()
			if list := f.bins[j][code[j]].Ranges; len(list) > 0 {
				values[i] = list[0].Lo
			}
		}
		s.cells[cell] = r.Cell(values)
	}
	return s
}

// step multiplies the combinations of each cell, by logarithms, so that the cell has its
// share, and says by how much of the rows one was off.
func (s *scaling) step(m *graphical.Model, log []float64) (off float64, err error) {
	table, err := m.Marginal(s.vars)
	if err != nil {
		return 0, err
	}
	have := make([]float64, len(s.rule.Total))
	for i, cell := range s.cells {
		if cell >= 0 {
			have[cell] += table[i] / m.Total()
		}
	}
	for i, cell := range s.cells {
		if cell < 0 || have[cell] == 0 || s.rule.Total[cell].Rows == 0 {
			continue
		}
		want := float64(s.rule.Total[cell].Rows) / float64(s.rule.Rows())
		log[i] += bitmath.Log(want / have[cell])
		off = max(off, math.Abs(want-have[cell]))
	}
	return off, nil
}
