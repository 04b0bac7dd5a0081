package graphical

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// TestSortedByCodeAndKey: rows are listed by code, then by key, then as they come.
func TestSortedByCodeAndKey(t *testing.T) {
	order, starts := new(sorting).sorted([]uint16{1, 0, 1, 1, 2}, []uint16{9, 5, 3, 9, 0}, 3)
	if !slices.Equal(order, []int32{1, 2, 0, 3, 4}) || !slices.Equal(starts, []int{0, 1, 4, 5}) {
		t.Errorf("order %v from %v, must be 1 2 0 3 4 from 0 1 4 5", order, starts)
	}
}

// alike returns 4,000 rows of two numbers that are nearly one, of a third that falls with them,
// and of a flag.
func alike() pipelinetest.Input {
	d := &domain.Domain{}
	for _, name := range []string{"x", "y", "z"} {
		d.Columns = append(d.Columns, domain.Column{Name: name, Type: domain.Integer, Bounds: &[2]float64{0, 99},
			Nullable: name == "y"})
	}
	rng := rand.New(rand.NewPCG(3, 3))
	columns := make([][]any, 3)
	for i := range 4000 {
		a := 50 + 16*rng.NormFloat64()
		within := func(x float64) any { return int(min(max(math.Round(x), 0), 99)) }
		columns[0], columns[1], columns[2] = append(columns[0], within(a)), append(columns[1], within(a+3*rng.NormFloat64())),
			append(columns[2], within(90-a+8*rng.NormFloat64()))
		if i%50 == 0 {
			columns[1][i] = nil
		}
	}
	return pipelinetest.Input{Header: header(d, 4000), Rows: pipelinetest.Rows(d, columns...)}
}

// TestNumbersKeepTheirRelationInsideBins: of numbers in three bins the rank correlations of the
// rows that were learned from (.98, -.89, -.87) come back but for .1, where values that are
// placed apart lose .3; and no column has another histogram by it: which values a bin has is
// not what ranks decide.
func TestNumbersKeepTheirRelationInsideBins(t *testing.T) {
	in := alike()
	s := marginalTreeKind().New().(*MarginalTree)
	s.Bins = 3
	m := attempt{stage: s, in: in, multiplier: .05}.model(t)
	list, _ := m.placings()
	if len(list) != 3 || len(list[0].by)+len(list[1].by)+len(list[2].by) != 4 {
		t.Fatalf("numbers are placed by %v, must be three with two relations", list)
	}
	together, separate := drawRows(t, m, 4000), drawRows(t, withoutRanks(m), 4000)
	for _, pair := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		want, got, before := spearman(in.Rows, pair), spearman(together, pair), spearman(separate, pair)
		t.Logf("columns %v: %.3f of %.3f, placed apart %.3f", pair, got, want, before)
		if math.Abs(got-want) > .1 || math.Abs(before-want) < .25 {
			t.Errorf("columns %v: the rank correlation is %.3f, must be %.3f; placed apart it is %.3f", pair, got, want, before)
		}
	}
	for j := range 3 {
		a, b := valuesOf(together, j), valuesOf(separate, j)
		slices.Sort(a)
		slices.Sort(b)
		if !slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }) {
			t.Errorf("column %d has another histogram where ranks place it", j)
		}
	}
}

// withoutRanks returns the model without the pairs that tell of relations.
func withoutRanks(m *released) *released {
	other := *m
	other.Measured = nil
	return &other
}

func valuesOf(rec arrow.Record, column int) []float64 {
	list := make([]float64, rec.NumRows())
	for i := range list {
		if list[i] = math.NaN(); rec.Column(column).IsValid(i) {
			list[i] = numberAt(rec.Column(column), i)
		}
	}
	return list
}

// spearman returns the correlation of ranks, of rows where neither is missing.
func spearman(rec arrow.Record, pair [2]int) float64 {
	x, y := valuesOf(rec, pair[0]), valuesOf(rec, pair[1])
	for i := len(x) - 1; i >= 0; i-- {
		if math.IsNaN(x[i]) || math.IsNaN(y[i]) {
			x, y = slices.Delete(x, i, i+1), slices.Delete(y, i, i+1)
		}
	}
	a, b := midRanks(x), midRanks(y)
	sxy, sxx, syy := 0.0, 0.0, 0.0
	for i := range a {
		sxy, sxx, syy = sxy+a[i]*b[i], sxx+a[i]*a[i], syy+b[i]*b[i]
	}
	return sxy / math.Sqrt(sxx*syy)
}

// midRanks returns ranks of whole numbers from 0 to 99 less their mean.
func midRanks(x []float64) []float64 {
	var counts [101]float64
	for _, v := range x {
		counts[int(v)+1]++
	}
	for k := range 100 {
		counts[k+1] += counts[k]
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = (counts[int(v)]+counts[int(v)+1])/2 - float64(len(x))/2
	}
	return out
}
