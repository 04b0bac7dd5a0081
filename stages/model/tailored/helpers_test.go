package tailored

import (
	"testing"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/stages/internal/question"
)

// ward returns a table of made-up rows: bounded numbers with and without a step, categories of
// which some are missing, and two categories.
func ward(n int) pipelinetest.Input {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{18, 90}},
		{Name: "weight", Type: domain.Numeric, Bounds: &[2]float64{30, 200}, Step: 0.5},
		{Name: "dose", Type: domain.Numeric, Bounds: &[2]float64{0, 1}, Nullable: true},
		{Name: "region", Type: domain.Categorical, Categories: []string{"north", "south", "west"}, Nullable: true},
		{Name: "smoker", Type: domain.Boolean, Categories: []string{"no", "yes"}},
		{Name: "score", Type: domain.Numeric},
	}}
	columns := make([][]any, len(d.Columns))
	for i := range n {
		row := []any{18 + (i*7)%73, 60.5 + float64(i%7), float64(i%11) / 10, []any{"north", "south", nil, "west"}[i%4],
			[]string{"no", "yes"}[i/20%2], float64(i)}
		if i%5 == 0 {
			row[2] = nil
		}
		for j, v := range row {
			columns[j] = append(columns[j], v)
		}
	}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1), Rows: int64(n),
		OwnRows: true,
		Terms:   pipeline.Terms{Adjacency: privacy.ReplaceOne, Claims: pipeline.ClaimsPublished, Delta: 1e-5}})
	return pipelinetest.Input{Header: h, Rows: pipelinetest.Rows(d, columns...)}
}

// wards makes the kinds of tables that a mechanism meets: a public number of rows, a private one, and
// several rows a unit.
func wards() map[string]pipelinetest.Input {
	removable, group, filtered := ward(40), ward(40), ward(40)
	removable.Header.Terms.Adjacency, removable.Header.Rows = privacy.AddRemove, 0
	group.Header.Stability = pipeline.Rows(2)
	filtered.Header.Rows = 0
	return map[string]pipelinetest.Input{"public rows": ward(40), "add_remove": removable, "group": group,
		"filtered": filtered}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// everything asks one question of each sort, with conditions and without.
func everything() []question.Question {
	from, to := 30.0, 60.5
	older := []question.Condition{{Column: "age", From: &from, To: &to}, {Column: "smoker", In: []string{"yes"}}}
	return []question.Question{
		{Name: "older smokers", Ask: question.Count, Where: older},
		{Name: "regions", Ask: question.Histogram, Column: "region"},
		{Name: "weights", Ask: question.Histogram, Column: "weight", Edges: []float64{30, 62, 64, 200}, Where: older},
		{Name: "age", Ask: question.Mean, Column: "age"},
		{Name: "dose", Ask: question.Mean, Column: "dose"},
		{Name: "weight of the older", Ask: question.Mean, Column: "weight", Where: older},
		{Name: "median age", Ask: question.Quantile, Column: "age", Quantile: 0.5},
		{Name: "high dose", Ask: question.Quantile, Column: "dose", Quantile: 0.9, Where: older},
	}
}

func queryOf(queries int, list ...question.Question) func() pipeline.Stage {
	return func() pipeline.Stage {
		s := queryKind().New().(*Query)
		s.Questions, s.Queries = list, queries
		return s
	}
}

func covarianceOf(change func(*Covariance)) func() pipeline.Stage {
	return func() pipeline.Stage {
		s := covarianceKind().New().(*Covariance)
		s.Columns = []string{"age", "weight", "smoker"}
		change(s)
		return s
	}
}

func TestMain(m *testing.M) { stattest.Sparing(m, 800) }
