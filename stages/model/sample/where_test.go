package sample

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/schema"
	"weir/stages/model/artifact"
)

func smokers() map[string]domain.Choice { return map[string]domain.Choice{"smoker": {"yes"}} }

func seeded(purpose string) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(len(purpose)), 7))
}

func collected(t *testing.T, table pipeline.Table) arrow.Record {
	t.Helper()
	rec, err := table.Collect(t.Context())
	must(t, err)
	return rec
}

// TestConditionsKeepTheModelsLaw: rows under conditions are the rows of the same drawing
// without them that meet all, in their order, of every family. So their law is the model's
// given the conditions.
func TestConditionsKeepTheModelsLaw(t *testing.T) {
	const wanted = 300
	for name, model := range map[string]pipeline.Table{"a network": generator(t), "marginals": marginals(t)} {
		m, err := read(t.Context(), model)
		must(t, err)
		s := Stage{Categorical: "sample", Where: map[string]domain.Choice{"smoker": {"yes"}, "age": {"18..60", "70"}}}
		got, err := s.Draw(m, wanted, pipeline.Released, seeded, func(_, _ int64) {})
		must(t, err)
		all, err := s.unconditional(m, wanted, 100*wanted, pipeline.Released, seeded, func(_, _ int64) {})
		must(t, err)
		want := brute(collected(t, all), wanted)
		rec := collected(t, got)
		if len(want) != wanted || rec.NumRows() != wanted {
			t.Fatalf("%s: %d rows, and by hand %d, must be %d", name, rec.NumRows(), len(want), wanted)
		}
		ages, weights, smoke := rec.Column(0).(*array.Int64), rec.Column(1).(*array.Float64), rec.Column(2).(*array.Int32)
		for i, w := range want {
			if ages.Value(i) != w.age || weights.Value(i) != w.weight || smoke.Value(i) != 1 {
				t.Fatalf("%s: row %d is %d, %g, %d, must be %v, who smokes", name, i, ages.Value(i), weights.Value(i),
					smoke.Value(i), w)
			}
		}
	}
}

type visit struct {
	age    int64
	weight float64
}

// brute returns the first rows of a table of visits that meet the conditions, by hand.
func brute(rec arrow.Record, most int) (list []visit) {
	ages, weights, smoke := rec.Column(0).(*array.Int64), rec.Column(1).(*array.Float64), rec.Column(2).(*array.Int32)
	for i := range int(rec.NumRows()) {
		a := ages.Value(i)
		if len(list) < most && smoke.Value(i) == 1 && (18 <= a && a <= 60 || a == 70) {
			list = append(list, visit{a, weights.Value(i)})
		}
	}
	return list
}

// fixture is a model of three columns whose rows come in turn.
type fixture struct {
	asked, given *int
	independent  *bool
}

func (fixture) Header() pipeline.Header {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "ward", Type: domain.Categorical, Categories: []string{"a", "b", "c", "d"}, Nullable: true},
		{Name: "dose", Type: domain.Numeric, Bounds: &[2]float64{0, 2}, Step: 0.25},
		{Name: "flag", Type: domain.Boolean, Categories: []string{"no", "yes"}},
	}, Constraints: []domain.Constraint{
		{Impossible: map[string]domain.Choice{"ward": {"a"}, "dose": {"2"}}},
		{Impossible: map[string]domain.Choice{"flag": {"no"}, "dose": {"1"}}},
	}}
	return pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Released, Stability: pipeline.Unbounded()})
}

func (f fixture) Draw(d artifact.Drawing) (artifact.Rows, error) {
	*f.asked, *f.independent = int(d.Rows), d.Independent
	pos := 0
	return func(n int) (arrow.Record, error) {
		*f.given += n
		wards, doses, flags := make([]any, n), make([]any, n), make([]any, n)
		for i := range n {
			wards[i], doses[i], flags[i] = []any{"a", "b", "c", "d", nil}[pos%5], float64(pos%9)/4, []string{"no", "yes"}[pos%2]
			pos++
		}
		return pipelinetest.Rows(f.Header().Domain, wards, doses, flags), nil
	}, nil
}

func newFixture() fixture { return fixture{new(int), new(int), new(bool)} }

// TestConditionsChooseAmongIndependentRows: rows that are rounded together would not have the
// model's law given the conditions. Whole tables are rounded.
func TestConditionsChooseAmongIndependentRows(t *testing.T) {
	for _, where := range []map[string]domain.Choice{nil, {"flag": {"yes"}}} {
		f, s := newFixture(), Stage{Categorical: "sample", Where: where}
		_, err := s.Draw(f, 3, pipeline.Released, seeded, func(_, _ int64) {})
		must(t, err)
		if *f.independent != (where != nil) {
			t.Errorf("where %v: rows are asked for as independent: %v", where, *f.independent)
		}
	}
}

// TestConditionsNarrowTheResult: the header has the values that are left and no others, and
// codes are the codes of the categories that are left.
func TestConditionsNarrowTheResult(t *testing.T) {
	s := Stage{Categorical: "sample", Where: map[string]domain.Choice{"ward": {"d", "b"}, "dose": {"0.6..1.3"},
		"flag": {"yes"}}}
	table, err := s.Draw(newFixture(), 50, pipeline.Released, seeded, func(_, _ int64) {})
	must(t, err)
	d := table.Domain
	if !slices.Equal(d.Columns[0].Categories, []string{"b", "d"}) || d.Columns[0].Nullable ||
		*d.Columns[1].Bounds != [2]float64{0.75, 1.3} ||
		len(d.Columns[2].Categories) != 2 || len(d.Constraints) != 0 || table.Rows != 50 {
		t.Errorf("%+v, %d rows, %v", d.Columns, table.Rows, d.Constraints)
	}
	rec := collected(t, table)
	seen := map[int32]int{}
	for i := range 50 {
		dose := rec.Column(1).(*array.Float64).Value(i)
		seen[rec.Column(0).(*array.Int32).Value(i)]++
		if dose < 0.6 || dose > 1.3 || rec.Column(2).(*array.Int32).Value(i) != 1 {
			t.Errorf("row %d has the dose %g", i, dose)
		}
	}
	if len(seen) != 2 || seen[0] == 0 || seen[1] == 0 {
		t.Errorf("wards are %v, must be codes 0 and 1", seen)
	}
	s.Where = map[string]domain.Choice{"ward": {"missing"}}
	table, err = s.Draw(newFixture(), 5, pipeline.Released, seeded, func(_, _ int64) {})
	must(t, err)
	if rec := collected(t, table); rec.Column(0).NullN() != 5 || !table.Domain.Columns[0].Nullable {
		t.Errorf("%d of 5 wards are missing", rec.Column(0).NullN())
	}
}

// TestTriesAreBounded: a condition that the model does not meet ends with an error that names
// it, after as many rows as the settings allow, without rows of which someone may think that
// they are all; one that it just meets does not.
func TestTriesAreBounded(t *testing.T) {
	// one row in 90 has ward a, dose 0 and flag no: places 0 of 5, of 9 and of 2
	rare := map[string]domain.Choice{"ward": {"a"}, "dose": {"0"}, "flag": {"no"}}
	often := map[string]domain.Choice{"ward": {"a"}, "dose": {"0"}} // one in 45
	for _, c := range []struct {
		where       map[string]domain.Choice
		tries, rows int
		ok          bool
	}{{rare, 90, 3, true}, {rare, 60, 3, false}, {rare, 0, 200, true}, {often, 30, 3, false}} {
		f, s, shown := newFixture(), Stage{Categorical: "sample", Where: c.where, MaxTries: c.tries}, int64(0)
		table, err := s.Draw(f, int64(c.rows), pipeline.Released, seeded,
			func(done, total int64) { shown = max(shown, done*1000/total) })
		must(t, err)
		rec, err := table.Collect(t.Context())
		if (err == nil) != c.ok || c.ok && (rec.NumRows() != int64(c.rows) || shown != 1000) {
			t.Errorf("%v within %d: %v", c.where, c.tries, err)
		}
		if !c.ok {
			for _, word := range []string{"ward: [a]", "dose: [0]", "max_tries"} {
				if err == nil || !strings.Contains(err.Error(), word) {
					t.Errorf("%v does not say %s", err, word)
				}
			}
			if *f.given > c.tries*c.rows {
				t.Errorf("%d rows are drawn, %d are allowed", *f.given, c.tries*c.rows)
			}
		}
		if *f.asked != c.rows {
			t.Errorf("the model is told that %d rows come, must be %d", *f.asked, c.rows)
		}
	}
}

// TestRareRowsComeInBatches: what is kept of many records is handed on as few.
func TestRareRowsComeInBatches(t *testing.T) {
	s := Stage{Categorical: "sample", Where: map[string]domain.Choice{"ward": {"a"}}}
	table, err := s.Draw(newFixture(), artifact.BatchRows+1, pipeline.Released, seeded, func(_, _ int64) {})
	must(t, err)
	for range 2 { // the same, whenever it is read
		records, rows := 0, int64(0)
		for rec, err := range table.Open(t.Context()) {
			must(t, err)
			records, rows = records+1, rows+rec.NumRows()
			if rec.NumRows() > 2*artifact.BatchRows {
				t.Errorf("a record of %d rows", rec.NumRows())
			}
		}
		if records > 2 || rows != artifact.BatchRows+1 {
			t.Errorf("%d rows in %d records", rows, records)
		}
	}
}

// TestStepsAreCheckedBeforeAnythingIsPaid: a plan knows from the model's header which steps
// of its training it holds.
func TestStepsAreCheckedBeforeAnythingIsPaid(t *testing.T) {
	rows := int64(3)
	h := generator(t).Header
	for _, c := range []struct {
		kept pipeline.Kept
		step int
		want string // of the error; "" for none
	}{
		{pipeline.Kept{}, 0, ""}, {pipeline.Kept{}, 10, "absent"},
		{pipeline.Kept{Every: 5, Last: 12}, 5, ""}, {pipeline.Kept{Every: 5, Last: 12}, 12, ""},
		{pipeline.Kept{Every: 5, Last: 12}, 11, "12, its last"}, {pipeline.Kept{Every: 5, Last: 12}, 15, "12, its last"},
	} {
		h.Kept = c.kept
		_, err := (&Stage{Rows: &rows, Step: c.step}).Plan(pipeline.Headers{"in": h})
		if (err == nil) != (c.want == "") || err != nil && !(strings.Contains(err.Error(), "step: is") &&
			strings.Contains(err.Error(), c.want)) {
			t.Errorf("step %d of %v: %v, must say %q", c.step, c.kept, err, c.want)
		}
	}
}

// TestConditionsAreChecked against the header, all at once.
func TestConditionsAreChecked(t *testing.T) {
	rows := int64(3)
	for want, s := range map[string]*Stage{
		`where.smokes: is "smokes", an unknown column`: {Rows: &rows, Where: map[string]domain.Choice{"smokes": {"yes"},
			"age": {"200"}}},
		"outside the bounds": {Rows: &rows, Where: map[string]domain.Choice{"smokes": {"yes"},
			"age": {"200"}}},
		"where.smoker: is": {Rows: &rows, Where: map[string]domain.Choice{"smoker": {"maybe"}}},
		"listed twice": {Rows: &rows, Where: map[string]domain.Choice{
			"smoker": {"yes", "yes"}}},
		"must be at least one":  {Rows: &rows, Where: map[string]domain.Choice{"smoker": {}}},
		"missing, which age is": {Rows: &rows, Where: map[string]domain.Choice{"age": {"missing"}}},
		"max_tries: is given":   {Rows: &rows, MaxTries: 5},
	} {
		_, err := s.Plan(pipeline.Headers{"in": generator(t).Header})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, must say %q", err, want)
		}
	}
}

// TestImpossibleConditionsAreRefused by the rules of the domain alone, each at its rule: before
// a row is drawn, and whether the model holds rules or not. What some row meets is not.
func TestImpossibleConditionsAreRefused(t *testing.T) {
	for _, c := range []struct {
		where map[string]domain.Choice
		rule  string // "": rows can meet it
	}{
		{map[string]domain.Choice{"ward": {"a"}, "dose": {"2"}}, "constraints[0], "},
		{map[string]domain.Choice{"flag": {"no"}, "dose": {"0.9..1.1"}}, "constraints[1], "},
		// each rule alone leaves a dose
		{map[string]domain.Choice{"ward": {"a"}, "dose": {"1", "2"}, "flag": {"no"}}, "constraints[0], "},
		{map[string]domain.Choice{"ward": {"a", "b"}, "dose": {"2"}}, ""},
		{map[string]domain.Choice{"ward": {"a"}, "dose": {"1..2"}, "flag": {"no"}}, ""},
		{map[string]domain.Choice{"ward": {"missing"}, "dose": {"2"}}, ""},
	} {
		for _, ruled := range []bool{false, true} {
			h := newFixture().Header()
			h.Ruled = ruled
			_, err := (&Stage{Categorical: "sample", Where: c.where}).conditions(h)
			if ps := (schema.Problems)(nil); c.rule == "" && err != nil || c.rule != "" &&
				(!errors.As(err, &ps) || ps[0].Path != "where" || !strings.Contains(ps[0].Found, c.rule)) {
				t.Errorf("%v: %v, must be of %q", c.where, err, c.rule)
			}
		}
	}
	m := newFixture()
	if _, err := (&Stage{Categorical: "sample", Where: map[string]domain.Choice{"ward": {"a"}, "dose": {"2"}}}).Draw(m, 5,
		pipeline.Released, seeded, func(_, _ int64) {}); err == nil || *m.given > 0 {
		t.Errorf("%v after %d rows, must be refused before any", err, *m.given)
	}
}

// TestRulesAreOfModelsThatHoldThem: the domain of a table has them, planned and drawn, only
// where every row keeps them.
func TestRulesAreOfModelsThatHoldThem(t *testing.T) {
	table, err := (&Stage{Categorical: "sample"}).Draw(newFixture(), 5, pipeline.Released, seeded, func(_, _ int64) {})
	must(t, err)
	if len(table.Domain.Constraints) > 0 {
		t.Errorf("a model that holds no rules has a table with %v", table.Domain.Constraints)
	}
	for _, ruled := range []bool{false, true} {
		model := newFixture().Header()
		model.Ruled = ruled
		rows := int64(5)
		h, err := (&Stage{Categorical: "sample", Rows: &rows}).header(model, pipeline.Released)
		must(t, err)
		if (len(h.Domain.Constraints) == 2) != ruled || h.Ruled {
			t.Errorf("a model, ruled: %v, is planned with a table of the rules %v", ruled, h.Domain.Constraints)
		}
	}
	if m := newFixture(); len(m.Header().Domain.Constraints) != 2 {
		t.Error("the domain of the model lost its rules")
	}
}
