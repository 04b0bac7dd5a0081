package source

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"weir/internal/bitmath"
	"weir/pipeline/domain"
)

// demoMade names the generator that knows nothing but a domain: its rows have shapes that tables of people have, and
// say nothing of the table that the domain is of. It has no domain of its own.
const demoMade = "domain"

// madeRows is how many rows demoMade draws where nobody says.
const madeRows = 10_000

// Shapes of made-up columns, chosen by hand beside five public tables (docs/measured.md, "What-if", which tries them on
// five others): few categories hold most rows, a third of the numbers lies in a bell, the others have a long tail, of
// those a half with zeros; pairs depend on each other weakly, a few strongly.
const (
	madeFactors  = 2    // hidden numbers of a row by which its columns depend on each other
	leastLoading = 0.25 // of a column on its factor
	moreLoading  = 0.7  // than that, at most
	heapedShare  = 0.7  // of columns of numbers on a lattice, that have a part of their rows at round values
	mostHeaped   = 0.7  // of the rows of such a column
	fewOrdinal   = 12   // whole numbers up to so many values are drawn as ordered categories
	mostMissing  = 0.2  // share of rows without a value, of a nullable column
	bellShare    = 0.35 // of columns of numbers
	zeroShare    = 0.65 // where the tails without zeros end
	mostRedraws  = 20   // of a row that breaks a rule of the domain
	madeWords    = 50   // of a column of open text
	leastTail    = 1e-3 // share of the range that a tail spreads at least
)

// made draws rows for a domain.
type made struct {
	columns []madeColumn
	rules   []domain.Rule
	orders  [][]int // columns of rules of order, whose values are sorted
	unit    int     // the column that names whose a row is; -1: none
}

// madeColumn is how the values of one column follow from a standard normal number.
type madeColumn struct {
	loading float64
	factor  int
	missing float64
	least   float64
	most    float64
	value   func(z float64) float64
	turn    func(row int64) float64 // values one after the other
}

// madeGenerator draws rows for a domain; the shapes are a function of seed and names of columns. Each row is of a unit
// of its own, as far as the column of units has values: how many rows a person has no domain tells, and a cap on them
// leaves no row out.
func madeGenerator(d *domain.Domain, seed uint64, unit string) (generator, error) {
	if d == nil {
		return generator{}, fmt.Errorf("demo %s: is without columns, must have dataset.domain", demoMade)
	}
	rules, problems := domain.ReadRules(d)
	if err := problems.Err(); err != nil {
		return generator{}, err
	}
	m := made{rules: rules, unit: d.Index(unit)}
	for _, rule := range rules {
		if len(d.Constraints[rule.Place].Order) > 0 {
			m.orders = append(m.orders, rule.Columns)
		}
	}
	for i := range d.Columns {
		c := &d.Columns[i]
		m.columns = append(m.columns, madeColumnOf(c, seed))
		m.columns[i].turn = inTurn(c)
	}
	return generator{rows: madeRows, domain: func(int64) *domain.Domain { return d }, draw: m.draw, batch: batchRows / 4},
		nil
}

func madeColumnOf(c *domain.Column, seed uint64) madeColumn {
	name := fnv.New64a()
	name.Write([]byte(c.Name))
	r := rand.New(rand.NewPCG(seed, name.Sum64()))
	m := madeColumn{loading: leastLoading + float64(moreLoading*r.Float64()), factor: r.IntN(madeFactors)}
	if r.Float64() < 0.5 {
		m.loading = -m.loading
	}
	if u := r.Float64(); c.Nullable {
		m.missing = float64(mostMissing * u * u)
	}
	if c.Type == domain.Text || !c.Type.Coded() && c.Bounds == nil {
		m.least, m.most, m.value = math.Inf(-1), math.Inf(1), open(c, r)
		return m
	}
	count := countOf(c)
	if m.most = float64(count - 1); !c.Type.Coded() {
		m.least, m.most = c.Bounds[0], c.Bounds[1]
	}
	switch {
	case c.Type == domain.Categorical || c.Type == domain.Boolean:
		m.value = picked(0, 1, unordered(r, count))
	case c.Type == domain.Ordinal || count > 0 && count <= fewOrdinal:
		m.value = picked(m.least, max(1, stepOf(c)), ordered(r, count))
	default:
		m.value = number(r, c)
	}
	return m
}

// open draws values that no domain lists: words, and numbers of any size.
func open(c *domain.Column, r *rand.Rand) func(z float64) float64 {
	if c.Type == domain.Text {
		return picked(0, 1, unordered(r, madeWords))
	}
	middle, spread := float64(6*r.Float64()), 0.5+float64(r.Float64())
	return func(z float64) float64 {
		x := bitmath.Exp(middle + float64(spread*min(5, z)))
		if c.Type != domain.Numeric {
			return math.Floor(x)
		}
		return x
	}
}

// inTurn returns the values of a column one after the other: of categories and between bounds it begins anew at the
// end.
func inTurn(c *domain.Column) func(row int64) float64 {
	least, step, count := 0.0, 1.0, math.Inf(1)
	switch {
	case c.Type.Coded():
		count = float64(len(spellings(c)))
	case c.Bounds != nil:
		least, step = c.Bounds[0], max(1, stepOf(c))
		count = math.Floor((c.Bounds[1]-least)/step) + 1
	}
	return func(row int64) float64 { return least + float64(step*math.Mod(float64(row), count)) }
}

// countOf returns how many values a column has, 0 where they are not counted.
func countOf(c *domain.Column) int {
	if c.Type.Coded() {
		return len(spellings(c))
	}
	if n := (c.Bounds[1]-c.Bounds[0])/max(1, stepOf(c)) + 1; c.Type != domain.Numeric && n <= fewOrdinal {
		return int(n)
	}
	return 0
}

func stepOf(c *domain.Column) float64 {
	if c.Type == domain.Integer || c.Type == domain.Date {
		return max(1, math.Trunc(c.Step))
	}
	return c.Step
}

// unordered returns weights of categories: the k-th most frequent has one over k to a power, in an order by lot.
func unordered(r *rand.Rand, n int) []float64 {
	power, weights := 0.5+float64(r.Float64()), make([]float64, n)
	for k, at := range r.Perm(n) {
		weights[at] = bitmath.Exp(float64(-power * bitmath.Log(float64(k+1))))
	}
	if n == 2 {
		rare := logistic(-1.5 + float64(1.2*bitmath.Normal(r)))
		weights = []float64{1 - rare, rare}
	}
	return weights
}

// ordered returns weights that fall on both sides of a value by lot.
func ordered(r *rand.Rand, n int) []float64 {
	mode, fall, weights := float64(r.IntN(max(1, n/2+1))), 0.4+float64(r.Float64()), make([]float64, n)
	for k := range weights {
		weights[k] = bitmath.Exp(float64(-fall * math.Abs(float64(k)-mode)))
	}
	return weights
}

func picked(least, step float64, weights []float64) func(float64) float64 {
	return func(z float64) float64 { return least + float64(step*float64(pick(weights, normalCDF(z)))) }
}

// number returns a bell within the bounds, or a tail from the lower bound on, with zeros or without.
func number(r *rand.Rand, c *domain.Column) func(z float64) float64 {
	least, width, step := c.Bounds[0], c.Bounds[1]-c.Bounds[0], stepOf(c)
	shape, middle, spread := r.Float64(), 0.25+float64(0.35*r.Float64()), 0.08+float64(0.12*r.Float64())
	heaped, round := heaps(r, step), 0.05
	typical, sigma, zeros := 0.02+float64(0.1*r.Float64()), 0.5+float64(0.7*r.Float64()), 0.5+float64(0.45*r.Float64())
	if shape >= bellShare {
		round = typical / 2
	}
	return func(z float64) (x float64) {
		switch {
		case shape < bellShare:
			x = middle + float64(spread*z)
		case shape < zeroShare:
			x = float64(typical * bitmath.Exp(float64(sigma*z)))
		case normalCDF(z) < zeros:
			x = 0
		default:
			x = max(leastTail, float64(typical*bitmath.Exp(float64(sigma*(z-1)))))
		}
		return onLattice(least, width, step, heaped(min(1, max(0, x)), round, z))
	}
}

// heaps moves a part of the values of a lattice to multiples of round: the later digits of z say which.
func heaps(r *rand.Rand, step float64) func(x, round, z float64) float64 {
	part := float64(mostHeaped * r.Float64())
	if r.Float64() >= heapedShare || step == 0 {
		part = 0
	}
	return func(x, round, z float64) float64 {
		if digits := math.Abs(z * 1e4); digits-math.Floor(digits) < part {
			return min(1, float64(round*math.Round(x/round)))
		}
		return x
	}
}

// onLattice returns the value at a share of the range, a multiple of step from the lower bound.
func onLattice(least, width, step, share float64) float64 {
	x := float64(width * share)
	if step > 0 {
		x = float64(step * math.Round(min(x, float64(step*math.Floor(width/step)))/step))
	}
	return min(least+x, least+width)
}

// draw fills v with a row; one that breaks a rule is drawn again, at most mostRedraws times.
func (m made) draw(r *rand.Rand, row, _ int64, v []float64) {
	for range mostRedraws {
		m.once(r, v)
		if m.unit >= 0 {
			v[m.unit] = m.columns[m.unit].turn(row)
		}
		if m.keeps(v) {
			return
		}
	}
}

func (m made) once(r *rand.Rand, v []float64) {
	var factors [madeFactors]float64
	for i := range factors {
		factors[i] = bitmath.Normal(r)
	}
	for i, c := range m.columns {
		own := math.Sqrt(1 - float64(c.loading*c.loading))
		v[i] = c.value(float64(c.loading*factors[c.factor]) + float64(own*bitmath.Normal(r)))
		if c.missing > 0 {
			lose(r, &v[i], c.missing)
		}
	}
	m.sort(v)
}

// sort puts the values of columns with an order into it, where each then lies in its column; missing ones stay.
func (m made) sort(v []float64) {
	for _, order := range m.orders {
		var places []int
		var values []float64
		for _, i := range order {
			if !math.IsNaN(v[i]) {
				places, values = append(places, i), append(values, v[i])
			}
		}
		slices.Sort(values)
		for k, i := range places {
			v[i] = min(m.columns[i].most, max(m.columns[i].least, values[k]))
		}
	}
}

func (m made) keeps(v []float64) bool {
	values := make([]float64, 0, 8)
	for i := range m.rules {
		values = values[:0]
		for _, at := range m.rules[i].Columns {
			values = append(values, v[at])
		}
		if !m.rules[i].Keeps(values) {
			return false
		}
	}
	return true
}
