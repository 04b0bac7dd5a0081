package mixture

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/schema"
	"weir/stages/model/artifact"
)

// study returns n made-up rows of people who are dead or alive: only the dead have a cause, drink
// is told by it, and nobody is of a third sex.
func study(n int) pipelinetest.Input {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "sex", Type: domain.Categorical, Categories: []string{"f", "m", "x"}},
		{Name: "dead", Type: domain.Boolean, Categories: []string{"no", "yes"}},
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{18, 90}},
		{Name: "weight", Type: domain.Numeric, Bounds: &[2]float64{30, 200}, Nullable: true},
		{Name: "visits", Type: domain.Integer, Bounds: &[2]float64{0, 60}},
		{Name: "region", Type: domain.Categorical, Categories: []string{"north", "south", "west"}, Nullable: true},
		{Name: "cause", Type: domain.Categorical, Categories: []string{"heart", "drink", "other"}, Nullable: true},
		{Name: "drinks", Type: domain.Boolean, Categories: []string{"no", "yes"}},
	}}
	columns := make([][]any, len(d.Columns))
	for i := range n {
		dead := i%4 == 3
		row := []any{[]string{"f", "m"}[i/4%2], []string{"no", "yes"}[i%4/3], 20 + i*7%70, 40.5 + float64(8*(i%17)),
			i * 5 % 9, []string{"north", "south", "west"}[i*i%3], nil, "no"}
		if i%9 == 4 {
			row[3] = nil
		}
		if i%11 == 3 {
			row[5] = nil
		}
		if dead {
			row[6] = []string{"heart", "drink", "other", "heart"}[i/4%4]
		}
		if row[6] == "drink" {
			row[7] = "yes"
		}
		for j, v := range row {
			columns[j] = append(columns[j], v)
		}
	}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1), Rows: int64(n),
		OwnRows: true,
		Terms:   pipeline.Terms{Adjacency: privacy.ReplaceOne, Claims: pipeline.ClaimsProven}})
	return pipelinetest.Input{Header: h, Rows: pipelinetest.Rows(d, columns...)}
}

// small trains for 12 steps; full has strata, what is fixed in some, and every family.
func small() *Mixture {
	s := mixtureKind().New().(*Mixture)
	s.Steps, s.ExpectedBatchSize, s.SamplingRate, s.MaxGradNorm, s.Components, s.CheckpointEvery = 12, 10, 0.25, 0.5, 3, 5
	return s
}

func full() *Mixture {
	s := small()
	s.Families = map[string]string{"visits": "poisson", "weight": "normal"}
	s.Stratify = []string{"sex", "dead"}
	s.Structural = []Structural{{Where: map[string]domain.Choice{"dead": {"no"}},
		Set: map[string]schema.Text{"cause": "missing", "weight": "70"}}}
	return s
}

func learners() map[string]pipelinetest.Learner {
	return map[string]pipelinetest.Learner{
		"small": {Kind: mixtureKind(), Stage: func() pipeline.Stage { return small() }},
		"full":  {Kind: mixtureKind(), Stage: func() pipeline.Stage { return full() }},
	}
}

// read returns the model of a table that the stage released.
func read(t *testing.T, table pipeline.Table) *model {
	t.Helper()
	m, err := artifact.Read[artifact.Model](t.Context(), table, pipeline.ReadersOf(Kinds()))
	must(t, err)
	return m.(*model)
}

// drawRows returns n rows of a model, as n were announced.
func drawRows(t *testing.T, m artifact.Model, n int) arrow.Record {
	t.Helper()
	rows, err := m.Draw(artifact.Drawing{Rows: int64(n), Random: func(purpose string) *rand.Rand {
		return rand.New(rand.NewPCG(7, uint64(len(purpose))))
	}})
	must(t, err)
	rec, err := rows(n)
	must(t, err)
	return rec
}

// codes returns the codes of a column, -1 where it is missing.
func codes(rec arrow.Record, name string) []int {
	a := rec.Column(rec.Schema().FieldIndices(name)[0]).(*array.Int32)
	list := make([]int, a.Len())
	for i := range list {
		if list[i] = -1; a.IsValid(i) {
			list[i] = int(a.Value(i))
		}
	}
	return list
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestMain(m *testing.M) { stattest.Sparing(m, 800) }
