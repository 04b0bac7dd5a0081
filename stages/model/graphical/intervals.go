package graphical

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/schema"
	"weir/train/graphical"
)

// Intervals says how far marginals of a released model may be from the marginals of the table
// that it learned from.
type Intervals struct {
	Marginals [][]string `yaml:"marginals,omitempty" json:"marginals,omitempty" doc:"Columns of each marginal; by default each column, and each set of columns that was measured."`
	Copies    int        `yaml:"copies" json:"copies" min:"2" max:"1000" doc:"Models fitted again to bootstrap tables, by which counts are judged that no measurement covers."`
}

const intervalsName = "intervals"

func intervalsKind() pipeline.Kind {
	return pipeline.Kind{
		Name: intervalsName, Version: 3,
		Doc: "Gives 95 % intervals for marginals of the table that a model learned from. Gives counts of marginals with 95 " +
			"% intervals for those of the table that a model learned from, from the " +
			"noisy marginals that the model carries. " +
			"Use it before a count of synthetic rows is quoted. The column basis says what an interval is: measured, the " +
			"released count and exact; combined, the " +
			"precision-weighted mean of all measurements that cover it, approximate; model, of columns that no measurement " +
			"holds together: the model's, which " +
			"carries the noise and not what was never measured (on Adult 66 in 100 of pairs hold, 80 of triples). " +
			"Post-processing of a release: costs nothing.",
		In: []pipeline.Port{{Name: "in", Form: pipeline.FormModel, Doc: "A released model of marginals."}},
		Out: []pipeline.Port{{Name: "out", Form: pipeline.FormFiles,
			Doc: "A CSV table with a row for each cell of each marginal.", Files: []string{intervalsFile}}},
		New: func() pipeline.Stage { return &Intervals{Copies: 20} },
	}
}

// Plan implements pipeline.Stage.
func (s *Intervals) Plan(in pipeline.Headers) (pipeline.Work, error) {
	model := in["in"]
	var ps schema.Problems
	needMeasured(model.Domain, &ps)
	for i, names := range s.Marginals {
		if path := fmt.Sprintf("marginals[%d]", i); len(names) == 0 {
			ps.Add(path, "empty", "at least one column")
		} else if model.Domain != nil {
			model.Domain.Pick(&ps, path, names)
		}
	}
	out := marginalsHeader(model)
	out.Class = model.Class
	return pipeline.Work{Out: pipeline.Headers{"out": out},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			m, err := ours(ctx, in["in"])
			if err != nil {
				return nil, err
			}
			text, err := s.list(ctx, env, m)
			return pipeline.Tables{"out": pipeline.WriteFiles(out, []pipeline.File{{Name: fileName(env, intervalsFile),
				Data: text}})}, err
		}}, ps.Err()
}

// sets returns the marginals that are asked for.
func (s *Intervals) sets(m *released) []graphical.Set {
	var list []graphical.Set
	add := func(set graphical.Set) {
		if !slices.ContainsFunc(list, func(x graphical.Set) bool { return slices.Equal(x, set) }) {
			list = append(list, set)
		}
	}
	for _, names := range s.Marginals {
		var set graphical.Set
		for _, name := range m.roots(names) {
			set = append(set, m.core.Index(name))
		}
		slices.Sort(set)
		add(slices.Compact(set))
	}
	if len(s.Marginals) > 0 {
		return list
	}
	for j := range m.Columns {
		add(graphical.Set{j})
	}
	for _, x := range m.Measured {
		add(x.Columns)
	}
	return list
}

// list returns the table of intervals as CSV, in the form of the listing (listing.go).
func (s *Intervals) list(ctx context.Context, env *pipeline.Env, m *released) ([]byte, error) {
	u := m.uncertainty()
	u.many, u.random, u.workers = s.Copies, env.Rand, env.Workers
	h := headsFor(m.Domain)
	sheet, row := newSheet(append(h.list(m.Domain), h.basis)), make([]string, len(m.Domain.Columns)+6)
	for i, set := range s.sets(m) {
		e, err := u.bestEstimates(ctx, set)
		if err != nil {
			return nil, err
		}
		basis := []string{"measured", "combined", "model"}[e.basis]
		eachCell(m.texts(set, m.byCode(set)), func(k int, cell []string) {
			sheet.row(m.line(row, i+1, set, cell, e.count[k], e.sigma[k], e.low[k], e.high[k]), basis)
		})
	}
	return sheet.bytes(), nil
}

// The bases of an interval, best first.
const (
	byMeasurement = iota
	byCombination
	byModel
)

// estimates are counts of a marginal by code with what they may be off by.
type estimates struct {
	set          graphical.Set
	count, sigma []float64
	low, high    []float64
	basis        int
}

// uncertainty finds counts and intervals of marginals.
type uncertainty struct {
	*released
	fresh   []graphical.Table // measurements whose noise had no part in what codes there are
	alone   []graphical.Table // of one column, by whose noise its codes were chosen
	many    int
	random  func(string) *rand.Rand
	workers int
	copies  []*graphical.Model // made when first needed
}

// uncertainty sorts the measurements of a model.
func (m *released) uncertainty() *uncertainty {
	u := &uncertainty{released: m}
	for _, t := range m.front().tables {
		if len(t.Vars) > 1 {
			u.fresh = append(u.fresh, t)
		}
	}
	for _, x := range m.Measured {
		if len(x.Columns) > 1 || x.Within != nil {
			continue
		}
		t, whole := m.byCodes(x)
		switch c := &m.Columns[x.Columns[0]]; {
		case whole && c.codes() == c.Cells:
			u.fresh = append(u.fresh, t)
		case whole:
			u.alone = append(u.alone, t)
		}
	}
	return u
}

// byCodes returns the counts of a release of one column by code, as they were released; whole is
// false where a code begins or ends inside one of its ranges.
func (m *released) byCodes(x measured) (t graphical.Table, whole bool) {
	j := x.Columns[0]
	c := &m.Columns[j]
	t = graphical.Table{Vars: graphical.Set{j}, Y: x.Y, Var: repeated(squared(x.Sigma), len(x.Y))}
	if x.Cells == nil && len(x.Y) != c.Cells {
		return t, true
	}
	codeOf := c.codeOf()
	t.Y, t.Var = make([]float64, c.codes()), make([]float64, c.codes())
	for k, y := range x.Y {
		lo, hi := k, k+1
		if x.Cells != nil {
			lo, hi = x.Cells[k][0], x.Cells[k][1]
		}
		if codeOf[lo] != codeOf[hi-1] {
			return t, false
		}
		t.Y[codeOf[lo]] += y
		t.Var[codeOf[lo]] += squared(x.Sigma)
	}
	return t, true
}

// bestEstimates gives the best basis that there is for a marginal.
func (u *uncertainty) bestEstimates(ctx context.Context, set graphical.Set) (estimates, error) {
	if most := int(Size{u.Size}.limits().Clique); cellsWithin(u.Model.Domain, set, most) < 0 {
		return estimates{}, fmt.Errorf("marginals: %v has more than %d cells, must have at most as many as a clique of the "+
			"model may have", u.columnsOf(set), most)
	}
	if e, ok := u.exact(set); ok {
		return e, nil
	}
	if e, ok := u.combined(set); ok {
		return e, nil
	}
	return u.modelled(ctx, set)
}

func (m *released) columnsOf(set graphical.Set) []string {
	var names []string
	for _, j := range set {
		names = append(names, m.core.Columns[j].Name)
	}
	return names
}

// exact returns the one measurement of just this marginal.
func (u *uncertainty) exact(set graphical.Set) (estimates, bool) {
	var single []measured
	for _, x := range u.Measured {
		if slices.Equal(x.Columns, []int(set)) && x.Within == nil {
			single = append(single, x)
		}
	}
	if len(single) != 1 || single[0].Cells != nil || len(single[0].Y) != cellsWithin(u.Model.Domain, set,
		len(single[0].Y)) {
		return estimates{}, false
	}
	e, half := estimates{set: set, count: single[0].Y, basis: byMeasurement}, single[0].half()
	for _, y := range e.count {
		e.sigma, e.low, e.high = append(e.sigma, single[0].Sigma), append(e.low, max(y-half, 0)),
			append(e.high, max(y+half, 0))
	}
	return e, true
}

// combined returns the mean of all fresh measurements that hold the marginal, weighted by their
// precision: a sum of k cells of variance v has variance k v. Their noise had no part in what
// codes there are. Of a column that none of these holds it is the mean of what counted the
// column alone, which its codes were made of, so that the interval is approximate.
func (u *uncertainty) combined(set graphical.Set) (estimates, bool) {
	for _, tables := range [][]graphical.Table{u.fresh, u.alone} {
		if e, ok := u.mean(set, tables); ok {
			return e, true
		}
	}
	return estimates{}, false
}

// mean returns the mean of all tables that hold the marginal.
func (u *uncertainty) mean(set graphical.Set, tables []graphical.Table) (estimates, bool) {
	cells := cellsIn(u.Model.Domain, set)
	sums, weights := make([]float64, cells), make([]float64, cells)
	for _, t := range tables {
		if !covers(t.Vars, set) {
			continue
		}
		y, v := summed(u.Model.Domain, t, set)
		for k := range y {
			sums[k] += y[k] / v[k]
			weights[k] += 1 / v[k]
		}
	}
	e := estimates{set: set, basis: byCombination}
	for k := range sums {
		if weights[k] == 0 {
			return e, false
		}
		e.add(sums[k]/weights[k], 1/math.Sqrt(weights[k]))
	}
	return e, true
}

// add appends a count with its normal interval.
func (e *estimates) add(count, sigma float64) {
	e.count, e.sigma = append(e.count, count), append(e.sigma, sigma)
	e.low, e.high = append(e.low, max(count-float64(normal95*sigma), 0)),
		append(e.high, max(count+float64(normal95*sigma), 0))
}

// modelled returns the model's marginal with the spread of the marginals of copies.
func (u *uncertainty) modelled(ctx context.Context, set graphical.Set) (estimates, error) {
	if err := u.copy(ctx); err != nil {
		return estimates{}, err
	}
	center, err := u.model.Marginal(set)
	if err != nil {
		return estimates{}, err
	}
	squares := make([]float64, len(center))
	for _, m := range u.copies {
		y, err := m.Marginal(set)
		if err != nil {
			return estimates{}, err
		}
		for k := range y {
			squares[k] += float64((y[k] - center[k]) * (y[k] - center[k]))
		}
	}
	e := estimates{set: set, basis: byModel}
	for k := range center {
		e.add(center[k], math.Sqrt(squares[k]/float64(len(u.copies))))
	}
	return e, nil
}

func (u *uncertainty) copy(ctx context.Context) error {
	for i := len(u.copies); i < u.many; i++ {
		m, err := u.Copy(ctx, u.random(fmt.Sprintf("copy %d", i+1)), u.workers)
		if err != nil {
			return err
		}
		u.copies = append(u.copies, m.(*released).model)
	}
	return nil
}

// summed returns a table over a part of its columns: sums of cells, and of their variances.
func summed(dom []int, t graphical.Table, set graphical.Set) (y, variance []float64) {
	cells := cellsIn(dom, set)
	y, variance = make([]float64, cells), make([]float64, cells)
	for k := range t.Y {
		pos, rest, stride := 0, k, 1
		for a := len(t.Vars) - 1; a >= 0; a-- {
			n := dom[t.Vars[a]]
			code := rest % n
			if rest /= n; slices.Contains(set, t.Vars[a]) {
				pos, stride = pos+code*stride, stride*n
			}
		}
		y[pos] += t.Y[k]
		variance[pos] += t.Var[k]
	}
	return y, variance
}

func covers(of, set graphical.Set) bool {
	for _, j := range set {
		if !slices.Contains(of, j) {
			return false
		}
	}
	return true
}

// half returns half the width of every cell's interval, which holds the count of the table in
// at least 95 of 100 releases: noise is a normal number rounded to whole ones, whose 95 %
// within h have h = 1.96 sd - .5, rounded up; of discrete Laplace noise it is the half width of its
// tails. It looks at all cells.
func (x measured) half() float64 {
	switch {
	case x.Noise == laplace && x.whole():
		return wholeLaplace95(x.Sigma)
	case x.Noise == laplace:
		return laplace95(x.Sigma)
	case x.whole():
		return max(math.Ceil(float64(normal95*math.Sqrt(max(float64(x.Sigma*x.Sigma)-1./12, 0)))-.5), 0)
	}
	return normal95 * x.Sigma
}

const (
	normal95 = 1.959963984540054 // the .975 quantile
	laplace  = "laplace"
)

// whole reports whether counts are whole numbers, as those with integer noise are.
func (x measured) whole() bool {
	return !slices.ContainsFunc(x.Y, func(y float64) bool { return y != math.Trunc(y) })
}

// laplace95 bounds Laplace noise of a standard deviation, with probability .95.
func laplace95(sd float64) float64 { return bitmath.Log(20) * sd / math.Sqrt2 }

// wholeLaplace95 returns the 95 % half width of discrete Laplace noise, whose part beyond h is 2 a^(h+1)/(1+a)
// for a = exp(-1/b), or of rounded Laplace noise, whichever is wider.
func wholeLaplace95(sd float64) float64 {
	y := 1 / (math.Sqrt2 * sd)
	root := y + math.Sqrt(float64(y*y)+1)
	a := 1 / (root * root) // whose variance is sd²
	return max(math.Ceil(bitmath.Log(.025*(1+a))/bitmath.Log(a)-1), math.Ceil(laplace95(sd)-.5), 0)
}
