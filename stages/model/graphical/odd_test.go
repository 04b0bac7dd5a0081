package graphical

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/neighbour"
	"weir/pipeline/pipelinetest"
	"weir/schema"
)

// odd is a pair of tables of which one row differs in a way that few tables show.
type odd struct {
	domain      *domain.Domain
	rows, other [][]any // by row; under add_remove the changed one, the last, is taken away
}

// odds lists them: what only the changed row has must show in nothing but what is paid for.
func odds() map[string]odd {
	letters := domain.Column{Name: "letter", Type: domain.Categorical, Categories: []string{"a", "b", "c"}}
	number := domain.Column{Name: "number", Type: domain.Integer, Bounds: &[2]float64{0, 400}, Nullable: true}
	far := domain.Column{Name: "far", Type: domain.Integer, Bounds: &[2]float64{0, 199999}, Nullable: true}
	only := domain.Column{Name: "only", Type: domain.Categorical, Categories: []string{"one"}}
	ruled := &domain.Domain{Columns: []domain.Column{letters, number, far}, Constraints: []domain.Constraint{
		{Order: []string{"number", "far"}}, {Impossible: map[string]domain.Choice{"letter": {"c"},
			"number": {"100..", "missing"}}},
		{Total: []domain.Cell{{Where: map[string]domain.Choice{"letter": {"a", "b"}}, Count: 12},
			{Where: map[string]domain.Choice{"letter": {"c"}}, Count: 0}}}}}
	follows := &domain.Domain{Columns: []domain.Column{letters, number}, Constraints: []domain.Constraint{
		{Function: &domain.Function{Of: "letter", Column: "number", Map: map[string]schema.Text{"a": "1", "b": "2",
			"c": "missing"}}}}}
	all := &domain.Domain{Columns: []domain.Column{letters, number, far}}
	alike := slices.Repeat([][]any{{"a", 5, 7}}, 11)
	extended := func(rows [][]any, last ...any) [][]any { return append(slices.Clone(rows), last) }
	return map[string]odd{
		"a category that one row has": {all, extended(alike, "a", 5, 7), extended(alike, "c", 5, 7)},
		"missing in one row":          {all, extended(alike, "a", 5, 7), extended(alike, "a", nil, nil)},
		"outside the bounds":          {all, extended(alike, "a", 5, 7), extended(alike, "a", -1<<52, 1<<52)},
		"one row":                     {all, [][]any{{"a", 0, 0}}, [][]any{{"c", 400, nil}}},
		"fewer rows than columns":     {all, [][]any{{"b", 1, 1}, {"a", 0, 0}}, [][]any{{"b", 1, 1}, {"c", 400, nil}}},
		"one column of one category": {&domain.Domain{Columns: []domain.Column{only}}, slices.Repeat([][]any{{"one"}}, 3),
			slices.Repeat([][]any{{"one"}}, 3)},
		"one category beside others": {&domain.Domain{Columns: []domain.Column{only, far}}, [][]any{{"one", 3}, {"one", 3}},
			[][]any{{"one", 3}, {"one", 150000}}},
		"one column": {&domain.Domain{Columns: []domain.Column{far}}, slices.Repeat([][]any{{9}}, 12),
			append(slices.Repeat([][]any{{9}}, 11), []any{nil})},
		"rules that one row breaks": {ruled, extended(alike, "a", 5, 7), extended(alike, "c", 300, 2)},
		"a function that it breaks": {follows, slices.Repeat([][]any{{"a", 1}}, 12),
			append(slices.Repeat([][]any{{"a", 1}}, 11), []any{"b", nil})},
	}
}

func (o odd) input(rows [][]any, n int) pipelinetest.Input {
	columns := make([][]any, len(o.domain.Columns))
	for _, row := range rows {
		for j, v := range row {
			columns[j] = append(columns[j], v)
		}
	}
	return pipelinetest.Input{Header: header(o.domain, n), Rows: pipelinetest.Rows(o.domain, columns...)}
}

// TestOddNeighbours replays every kind on odd tables: with what was paid for frozen, model
// and listing are the same byte by byte, no use costs or moves otherwise than is paid for,
// and no table ends a run. With a public number of rows, and on the three ways to a private
// one: add_remove, a filter before, a unit of two rows. An ordinary run takes a third of the kinds
// for each pair and way, in turns.
func TestOddNeighbours(t *testing.T) {
	turn := 0
	for _, what := range slices.Sorted(maps.Keys(odds())) {
		o := odds()[what]
		for _, way := range []string{"public", "add_remove", "filtered", "two rows"} {
			turn++
			n := len(o.rows)
			x, y := o.input(o.rows, n), o.input(o.other, n)
			if way == "add_remove" {
				if y = private(o.input(o.rows[:n-1], 0)); n == 1 {
					y = private(pipelinetest.Input{Header: y.Header, Rows: x.Rows.NewSlice(0, 0)})
				}
				x = private(o.input(o.other, 0))
			}
			for _, in := range []*pipelinetest.Input{&x, &y} {
				switch way {
				case "filtered":
					in.Header.Rows, in.Header.OwnRows = 0, false
				case "two rows":
					in.Header.Stability, in.Header.Terms.Unit.Column, in.Header.Terms.Unit.MaxRows = pipeline.Rows(2), "id", 2
				}
			}
			for i, stage := range every() {
				if !stattest.Long && i%3 != turn%3 {
					continue
				}
				if fault := oddly(t, stage, x, y); fault != "" {
					t.Errorf("%s, %s, %T: %s", what, way, stage, fault)
				}
			}
		}
	}
}

// oddly says what two neighbours show.
func oddly(t *testing.T, stage pipeline.Stage, x, y pipelinetest.Input) string {
	t.Helper()
	a := x.Header.Terms.Adjacency
	one := neighbour.NewFrozen()
	two := one.Neighbour()
	before, left := attempt{stage: stage, in: x, multiplier: 0.3, probe: one.Of("")}.run(t)
	now, other := attempt{stage: stage, in: y, multiplier: 0.3, probe: two.Of("")}.run(t)
	if left != other || fingerprint(t, before) != fingerprint(t, now) {
		return "what is released differs"
	}
	return strings.Join(two.Faults(a, nil), "\n")
}
