package mixture

import (
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/schema"
	"weir/stages/internal/columns"
)

// tiny is a table whose every possible row can be listed: 3 x 2 x 4 x 3 x 3.
func tiny() (pipelinetest.Input, [][]any) {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "sex", Type: domain.Categorical, Categories: []string{"f", "m"}, Nullable: true},
		{Name: "dead", Type: domain.Boolean, Categories: []string{"no", "yes"}},
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{1, 3}, Nullable: true},
		{Name: "visits", Type: domain.Integer, Bounds: &[2]float64{0, 2}},
		{Name: "stay", Type: domain.Integer, Bounds: &[2]float64{0, 2}},
	}}
	values := [][]any{{nil, "f", "m"}, {"no", "yes"}, {nil, 1, 2, 3}, {0, 1, 2}, {0, 1, 2}}
	columns := make([][]any, len(values))
	for i := range 40 {
		for j, v := range values {
			columns[j] = append(columns[j], v[i*(j+3)/(j+2)%len(v)])
		}
	}
	h := study(1).Header
	h.Domain = d
	h = pipeline.TableHeader(d, h)
	h.Rows = 40
	return pipelinetest.Input{Header: h, Rows: pipelinetest.Rows(d, columns...)}, values
}

// each lists every row of values once, the last column counted up first.
func each(d *domain.Domain, values [][]any) arrow.Record {
	columns, n := make([][]any, len(values)), 1
	for _, v := range values {
		n *= len(v)
	}
	for i := range n {
		for j, at := len(values)-1, i; j >= 0; j-- {
			columns[j] = append(columns[j], values[j][at%len(values[j])])
			at /= len(values[j])
		}
	}
	return pipelinetest.Rows(d, columns...)
}

// tinyMixture has strata, a value that is fixed in some, and all families; its law has means by
// hand and no width.
func tinyMixture(t *testing.T) *model {
	t.Helper()
	in, _ := tiny()
	l := pipelinetest.Learner{Kind: mixtureKind(), Stage: func() pipeline.Stage {
		s := small()
		s.Families = map[string]string{"age": "normal", "visits": "poisson"}
		s.Stratify = []string{"sex", "dead"}
		s.Structural = []Structural{{Where: map[string]domain.Choice{"dead": {"yes"}}, Set: map[string]schema.Text{"stay": "1"}}}
		return s
	}}
	table, _ := l.Trained(t, in)
	m := read(t, table)
	m.Sizes, m.PriorOnly, m.mean, m.log = []int64{30, 20, 40, 0, 25, 5}, nil, nil, nil
	for i := range m.layout.params() {
		m.mean, m.log = append(m.mean, float32(i*7%11-5)/4), append(m.log, -21)
	}
	return m
}

func frame(t *testing.T, d *domain.Domain, r arrow.Record) *columns.Frame {
	t.Helper()
	f, err := columns.Read(t.Context(), pipeline.FromRecords(pipeline.TableHeader(d, pipeline.Header{}), r))
	must(t, err)
	return f
}

// TestScoresAreProbabilities: over all rows that there can be 2^-score sums to 1, but for the
// rows of highest score, and rows that are drawn with parameters at their means come as often as
// scores say (chi-square at 1e-6; those of two strata exchanged are rejected).
func TestScoresAreProbabilities(t *testing.T) {
	m := tinyMixture(t)
	_, values := tiny()
	scores, err := newScorer(m).Scores(frame(t, m.Domain, each(m.Domain, values)))
	must(t, err)
	chances, sum := make([]float64, len(scores)), 0.0
	for i, bits := range scores {
		if chances[i] = math.Exp2(-bits); bits >= 5*64/math.Ln2 {
			chances[i] = 0
		}
		sum += chances[i]
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("all rows have the chance %.15g, must have 1", sum)
	}
	const n = 60000
	f := frame(t, m.Domain, drawn(t, m, n))
	seen := make([]int, len(scores))
	for i := range n {
		seen[placeOf(f, values, i)]++
	}
	if p := stattest.ChiSquare(seen, chances, n); p < 1e-6 {
		t.Errorf("drawn rows have not these chances: p %g", p)
	}
	m.Sizes[0], m.Sizes[2] = m.Sizes[2], m.Sizes[0]
	scores, err = newScorer(m).Scores(frame(t, m.Domain, each(m.Domain, values)))
	must(t, err)
	for i, bits := range scores {
		if chances[i] = math.Exp2(-bits); bits >= 5*64/math.Ln2 {
			chances[i] = 0
		}
	}
	if p := stattest.ChiSquare(seen, chances, n); p >= 1e-6 {
		t.Errorf("chances of other strata pass: p %g", p)
	}
}

// placeOf is the place of a row in the list of each.
func placeOf(f *columns.Frame, values [][]any, i int) (at int) {
	for j, v := range values {
		c := &f.Columns[j]
		value := 0 // missing stands first where it may be
		switch {
		case c.Absent(i):
		case c.Coded():
			value = int(c.Codes[i])
		default:
			value = int(c.Numbers[i] - c.Bounds[0])
		}
		if v[0] == nil && !c.Absent(i) {
			value++
		}
		at = at*len(v) + value
	}
	return at
}

// TestScoresOfRowsThatAreNeverDrawn: the highest there are: another value than the stratum fixes,
// a stratum without rows, out of bounds; and a stratum that has learned nothing gives all its
// rows one score: minus log2 of 1/24 of its share, and of 1/2 where age is not missing of 3 ages.
func TestScoresOfRowsThatAreNeverDrawn(t *testing.T) {
	m := tinyMixture(t)
	m.PriorOnly = []int{0}
	first := m.layout.strata[0].Params()
	m.mean = m.mean[first:]
	r := pipelinetest.Rows(m.Domain, []any{"f", "m", "m", "f", "f"}, []any{"yes", "yes", "no", "no", "no"}, []any{1, 1, 9, 2, nil}, []any{0, 0, 0, 1, 2}, []any{0, 1, 1, 0, 2})
	got, err := newScorer(m).Scores(frame(t, m.Domain, r))
	must(t, err)
	most := 5 * 64 / math.Ln2
	want := []float64{most, most, most, math.Log2(120./30) + 1 + 3*math.Log2(3), math.Log2(120./30) + 1 + 2*math.Log2(3)}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-9 {
			t.Errorf("row %d has score %g, must have %g", i, got[i], want[i])
		}
	}
}

// TestScoresAreOfTheRow: to the last bit, alone and in another order, whatever the
// model and the row; none is NaN or below 0.
func TestScoresAreOfTheRow(t *testing.T) {
	for name, l := range learners() {
		table, _ := l.Trained(t, study(40))
		s := newScorer(read(t, table))
		f := frame(t, s.Domain(), study(40).Rows)
		all, err := s.Scores(f)
		must(t, err)
		turned := make([]int, f.Rows)
		for i := range turned {
			turned[i] = f.Rows - 1 - i
		}
		other, err := s.Scores(f.Take(turned))
		must(t, err)
		slices.Reverse(other)
		for i := range all {
			alone, err := s.Scores(f.Slice(i, i+1))
			must(t, err)
			if !(all[i] >= 0) || alone[0] != all[i] || other[i] != all[i] {
				t.Errorf("%s: row %d has score %g, alone %g, in a table turned round %g", name, i, all[i], alone[0], other[i])
			}
		}
	}
}
