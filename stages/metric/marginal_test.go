package metric_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"weir/pipeline/domain"
	"weir/stages/internal/columns"
	"weir/stages/metric"
)

// coded draws a table of columns with the given numbers of categories, each
// wrongly correlated with the one before in the synthetic rows.
func coded(sizes []int, real, synth int) *metric.CodedTables {
	rng := rand.New(rand.NewPCG(9, 9))
	t := &metric.CodedTables{Real: real, Synth: synth}
	for _, k := range sizes {
		c := metric.CodedColumn{Size: k, Cells: k}
		for range real {
			c.Real = append(c.Real, uint16(rng.IntN(k)))
		}
		for range synth {
			c.Synth = append(c.Synth, uint16(rng.IntN((k+1)/2)))
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

// byMap returns the L1 distance by definition, over a map of cells.
func byMap(t *metric.CodedTables, query []int) (l1 float64, occupied int) {
	type cell [4]uint16
	shares := map[cell][2]float64{}
	for side, n := range []int{t.Real, t.Synth} {
		for i := range n {
			var point cell
			for k, q := range query {
				point[k] = [2][]uint16{t.Columns[q].Real, t.Columns[q].Synth}[side][i]
			}
			s := shares[point]
			s[side] += 1 / float64(n)
			shares[point] = s
		}
	}
	for _, s := range shares {
		l1 += math.Abs(s[0] - s[1])
	}
	return l1, len(shares)
}

// TestCompareCounts: dense counting and the hash table give what a map gives, with any workers.
func TestCompareCounts(t *testing.T) {
	table := coded([]int{3, 40, 700, 900, 60000}, 5000, 3000)
	queries := [][]int{{0}, {1, 2}, {0, 1, 2}, {2, 3, 4}, {0, 3, 4}, {1, 2, 3}}
	one, err := table.Compare(t.Context(), queries, 1, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	two, err := table.Compare(t.Context(), queries, 2, func(int) {})
	if err != nil || !cmp.Equal(one, two, cmpopts.EquateNaNs()) {
		t.Errorf("two workers give %v, one %v, error %v", two, one, err)
	}
	for i, q := range queries {
		want, occupied := byMap(table, q)
		if math.Abs(one[i].L1-want) > 1e-9 || one[i].Occupied != occupied {
			t.Errorf("%v: L1 %v over %d cells, must be %v over %d", q, one[i].L1, one[i].Occupied, want, occupied)
		}
	}
}

// TestCode: bins hold values on their edge, values outside and missing ones.
func TestCode(t *testing.T) {
	nan := math.NaN()
	real := &columns.Column{Name: "x", Type: domain.Numeric, Numbers: []float64{0, 0.3, 1, nan}, Bounds: &[2]float64{0, 2}}
	synth := &columns.Column{Name: "x", Type: domain.Numeric, Numbers: []float64{-1, 0.7, 5, nan}}
	for _, c := range []struct {
		binning     metric.Binning
		real, synth []uint16
	}{
		{metric.Binning{Bins: 10}, []uint16{0, 3, 9, 12}, []uint16{0, 7, 9, 12}},
		{metric.Binning{Bins: 10, OwnBins: true}, []uint16{0, 3, 9, 12}, []uint16{10, 7, 11, 12}},
		{metric.Binning{Bins: 10, Declared: true}, []uint16{0, 1, 5, 12}, []uint16{0, 3, 9, 12}},
	} {
		col, ok := c.binning.Code(real, synth)
		if !ok || !slices.Equal(col.Real, c.real) || !slices.Equal(col.Synth, c.synth) {
			t.Errorf("%+v: codes %v and %v, must be %v and %v", c.binning, col.Real, col.Synth, c.real, c.synth)
		}
	}
	if at := metric.BinOf(math.MaxFloat64, -math.MaxFloat64, math.MaxFloat64, 4); at != 3 {
		t.Errorf("the greatest number is in bin %d of the widest bounds", at)
	}
	wide := &columns.Column{Name: "w", Type: domain.Categorical, Categories: make([]string, math.MaxUint16)}
	if _, ok := (metric.Binning{}).Code(wide, wide); ok {
		t.Error("a column with more categories than codes was coded")
	}
}

// TestIndependentBaseline: the baseline keeps 1-way marginals and loses the rest. 20,000 rows of two
// equal columns of ten: the total variation to independent ones is 0.9, and the
// noise of a share is below 0.0071 (five standard deviations, false alarm 6e-7).
func TestIndependentBaseline(t *testing.T) {
	table := coded([]int{10}, 20000, 10)
	table.Columns = append(table.Columns, table.Columns[0])
	from := table.Swapped()
	base := from.Independent(&metric.CodedTables{Synth: 20000}, rand.New(rand.NewPCG(2, 2)))
	list, err := base.Compare(t.Context(), [][]int{{0}, {0, 1}}, 1, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	if list[0].MaxCell > 0.015 || math.Abs(list[1].TotalVariation-0.9) > 0.01 {
		t.Errorf("one-way error %v, two-way total variation %v", list[0].MaxCell, list[1].TotalVariation)
	}
}

// TestAbsentIndicators: what no row has is counted on each side, and of no indicators there is no count.
func TestAbsentIndicators(t *testing.T) {
	d := metric.CompareProbabilities([]float64{0.5, 0, 0.25, 0}, []float64{0, 0, 0, 0.1})
	if d.Absent != 2 || d.AbsentOther != 3 {
		t.Errorf("%g and %g are absent, must be 2 and 3", d.Absent, d.AbsentOther)
	}
	if d = metric.CompareProbabilities(nil, nil); !math.IsNaN(d.Absent) || !math.IsNaN(d.AbsentOther) {
		t.Errorf("of none %g and %g are absent", d.Absent, d.AbsentOther)
	}
}
