package pipelinetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/schema"
)

// spread changes one cell of its table in a way that depends on another row, or
// overwrites a column, and promises what promise says.
type spread struct {
	write   func(values []int64) // of the column visits, or of the person's
	column  int
	promise func(*pipeline.Header)
}

func (s *spread) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	h.Domain = h.Domain.Clone()
	h.Domain.Columns[1].OfUnit = h.Domain.Columns[1].OfUnit && s.column != 1
	s.promise(&h)
	return pipeline.Work{Out: pipeline.Headers{"out": h}, Run: func(ctx context.Context, _ *pipeline.Env,
		in pipeline.Tables) (pipeline.Tables, error) {
		r, err := in["in"].Collect(ctx)
		if err != nil {
			return nil, err
		}
		columns := append([]arrow.Array(nil), r.Columns()...)
		values := append([]int64(nil), columns[s.column].(*array.Int64).Int64Values()...)
		s.write(values)
		b := array.NewInt64Builder(memory.DefaultAllocator)
		b.AppendValues(values, nil)
		columns[s.column] = b.NewArray()
		return pipeline.Tables{"out": pipeline.FromRecords(h, newRecord(r, columns))}, nil
	}}, nil
}

// visitsOf returns a private table of 12 visits of 6 persons in 3 shards or none.
func visitsOf(shards bool, unit bool) Input {
	d := &domain.Domain{Columns: []domain.Column{{Name: "person", Type: domain.Integer, OfUnit: unit},
		{Name: "visits", Type: domain.Integer, Bounds: &[2]float64{0, 1000}}}}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1), OwnRows: true,
		Terms: pipeline.Terms{Adjacency: privacy.AddRemove, Claims: pipeline.ClaimsProven}})
	if unit {
		h.Stability, h.Terms.Unit = pipeline.Rows(2), pipeline.Unit{Column: "person", MaxRows: 2}
	}
	people, visits := make([]any, 12), make([]any, 12)
	for i := range people {
		people[i], visits[i] = i/2, 10+i
	}
	in := Input{Header: h, Rows: Rows(d, people, visits)}
	if shards {
		b := array.NewInt32Builder(memory.DefaultAllocator)
		for i := range 12 {
			b.Append(int32(i % 3))
		}
		in.Header = h.WithShardColumn(3)
		in.Header.Stability = pipeline.Shards(3)
		in.Rows = array.NewRecord(in.Header.Schema, append(append([]arrow.Array(nil), in.Rows.Columns()...), b.NewArray()),
			12)
	}
	return in
}

// follow makes the first cell depend on the last.
func follow(v []int64) {
	if len(v) > 0 {
		v[0] = v[len(v)-1]
	}
}

// number overwrites a column with the place of the row.
func number(v []int64) {
	for i := range v {
		v[i] = int64(i)
	}
}

// TestWrongStabilityIsFound: a table that changes in more rows, in another unit's
// rows or in another shard than its header says, and a column that is said to be one
// of the unit and is not, are reported; a header that admits it is not.
func TestWrongStabilityIsFound(t *testing.T) {
	contents := func(*pipeline.Header) {}
	output := func(s pipeline.Stability, own bool) func(*pipeline.Header) {
		return func(h *pipeline.Header) { h.Stability, h.OwnRows = s, own }
	}
	forgets := func(h *pipeline.Header) { h.Domain.Columns[0].OfUnit, h.Stability = false, pipeline.Unbounded() }
	for what, c := range map[string]struct {
		stage spread
		in    Input
		says  string
	}{
		"two rows of one, promised one": {spread{follow, 1, contents}, visitsOf(false, false),
			"3 rows change, its stability is rows(1)"},
		"two rows of one, promised three": {spread{follow, 1, output(pipeline.Rows(3), false)}, visitsOf(false, false), ""},
		"rows of another unit": {spread{follow, 1, output(pipeline.Rows(4), true)}, visitsOf(false, true),
			"of no unit that changed"},
		"rows of another unit, and says so": {spread{follow, 1, output(pipeline.Rows(4), false)}, visitsOf(false, true), ""},
		"another shard": {spread{follow, 1, contents}, visitsOf(true, false),
			"2 shards change, its stability is shards(3)"},
		"another shard, promised nothing": {spread{follow, 1, output(pipeline.Unbounded(), false)}, visitsOf(true, false),
			""},
		"a unit that is no unit any more": {spread{number, 0, output(pipeline.Unbounded(), false)}, visitsOf(false, true),
			"is said to be one of the privacy unit person"},
		"a unit that is none, and says so":    {spread{number, 0, forgets}, visitsOf(false, true), ""},
		"nothing changed":                     {spread{func([]int64) {}, 1, contents}, visitsOf(true, false), ""},
		"nothing changed, of units":           {spread{func([]int64) {}, 1, contents}, visitsOf(false, true), ""},
		"a group of rows whose own rows stay": {spread{func([]int64) {}, 1, contents}, visitsOf(false, false), ""},
	} {
		t.Run(what, func(t *testing.T) {
			kind := pipeline.Kind{Name: "spread", In: []pipeline.Port{{Name: "in", Form: pipeline.FormTable}},
				Out: []pipeline.Port{{Name: "out", Form: pipeline.FormTable}}}
			r := &recorder{}
			r.run(func(t reporter) {
				checkCase(t, kind, Case{Stage: func() pipeline.Stage { return &c.stage }, In: map[string]Input{"in": c.in}})
			})
			said := strings.Join(r.said, "\n")
			if c.says == "" && said != "" || !strings.Contains(said, c.says) {
				t.Errorf("reported %q, want %q", said, c.says)
			}
		})
	}
}

// TestListedKinds: a kind without a case and a case without a kind are reported.
func TestListedKinds(t *testing.T) {
	r := &recorder{}
	r.run(func(t reporter) {
		checkListed(t, []pipeline.Kind{{Name: "a"}, {Name: "b"}}, map[string][]Case{"a": {{}}, "c": {{}}})
	})
	if said := strings.Join(r.said, "; "); said != "kind b has no conformance case; cases of c, which is not a kind of "+
		"this room" {
		t.Error(said)
	}
}

// TestUndeclaredFigures: a name that no declaration covers is found, and a part of a figure that
// is declared to have none.
func TestUndeclaredFigures(t *testing.T) {
	declared := pipeline.Figures{{Name: "whole", Interval: true}, {Name: "each", Parts: "column",
		Beside: []pipeline.Role{pipeline.RealTrain}}}
	var found []string
	for _, m := range Undeclared(declared, []pipeline.Metric{{Name: "whole"}, {Name: "whole_low"},
		{Name: "whole", Column: "age"},
		{Name: "each", Column: "age"}, {Name: "each_real_train"}, {Name: "each_baseline"}, {Name: "each_low"},
		{Name: "other"}}) {
		found = append(found, m.Key())
	}
	if want := []string{"whole.age", "each_baseline", "each_low", "other"}; !slices.Equal(found, want) {
		t.Errorf("%v are undeclared, must be %v", found, want)
	}
}

// recorder takes down what a check reports.
type recorder struct{ said []string }

func (r *recorder) Error(args ...any)            { r.said = append(r.said, fmt.Sprint(args...)) }
func (r *recorder) Errorf(f string, args ...any) { r.said = append(r.said, fmt.Sprintf(f, args...)) }
func (r *recorder) Fatal(args ...any)            { r.Error(args...); panic(r) }
func (r *recorder) Fatalf(f string, args ...any) { r.Errorf(f, args...); panic(r) }

// run collects what check reports.
func (r *recorder) run(check func(reporter)) {
	defer func() {
		if p := recover(); p != nil && p != any(r) {
			panic(p)
		}
	}()
	check(r)
}

// pass is a stage that hands its table on, with one defect.
type pass struct {
	Columns []string `yaml:"columns" json:"columns" format:"columns" doc:"Columns that have to be there."`
	defect  string
	plans   *int
}

func (p *pass) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	var ps schema.Problems
	if p.defect != "takes unknown columns" {
		h.Domain.Pick(&ps, "columns", p.Columns)
	}
	switch p.defect {
	case "plans anew":
		*p.plans++
		h.Stability = pipeline.Rows(*p.plans)
	case "changes its input":
		h.Domain.Columns[0].Doc += "changed"
	case "lowers the class":
		h.Class = pipeline.Released
	case "plans another schema":
		h.Domain = &domain.Domain{Columns: h.Domain.Columns[:1]}
	case "promises rows":
		h.Rows = 3
	}
	return pipeline.Work{Out: pipeline.Headers{"out": h}, Lazy: true, Run: p.run}, ps.Err()
}

func (p *pass) run(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
	t := in["in"]
	switch p.defect {
	case "quotes a value":
		return nil, errors.New("cannot take 4242.5")
	case "reads at once":
		r, err := t.Collect(ctx)
		return pipeline.Tables{"out": pipeline.FromRecords(t.Header, r)}, err
	case "ignores cancelling":
		ctx = context.WithoutCancel(ctx)
		open := t.Open
		t.Open = func(context.Context) pipeline.Batches { return open(ctx) }
	case "drops a batch", "follows the workers":
		if p.defect == "follows the workers" && env.Workers == 1 {
			break
		}
		return pipeline.Tables{"out": t.Map(t.Header, func(r arrow.Record) (arrow.Record, error) {
			return r.NewSlice(0,
				min(1, r.NumRows())), nil
		})}, nil
	}
	return pipeline.Tables{"out": t}, nil
}

// TestDefectsAreFound: each defect is reported, and a stage without one is not.
func TestDefectsAreFound(t *testing.T) {
	for defect, want := range map[string]string{
		"":                      "",
		"plans anew":            "two plans differ",
		"changes its input":     "changed an input header",
		"lowers the class":      "nothing is paid",
		"plans another schema":  "the schema",
		"promises rows":         "the plan says 3",
		"takes unknown columns": "did you mean",
		"quotes a value":        "quotes a value",
		"reads at once":         "before its output is opened",
		"ignores cancelling":    "a cancelled run",
		"drops a batch":         "differs when run in batches",
		"follows the workers":   "differs when run with two workers",
	} {
		r := &recorder{}
		plans := 0
		d := &domain.Domain{Columns: []domain.Column{{Name: "pressure", Type: domain.Numeric},
			{Name: "grade", Type: domain.Ordinal, Categories: []string{"low", "high"}}}}
		rows := Rows(d, []any{1.5, 4242.5, 3, 4, 5, 6, 7, 8, 9}, []any{"low", "low", "high", "low", "low", "high", "low",
			"low", "high"})
		c := Case{
			Stage: func() pipeline.Stage { return &pass{Columns: []string{"grade"}, defect: defect, plans: &plans} },
			In: map[string]Input{"in": {Header: pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private,
				Stability: pipeline.Rows(1)}), Rows: rows}},
		}
		c.Fails = defect == "quotes a value"
		port := []pipeline.Port{{Name: "out", Form: pipeline.FormTable}}
		r.run(func(t reporter) { checkCase(t, pipeline.Kind{Name: "pass", Out: port}, c) })
		said := strings.Join(r.said, "\n")
		if want == "" && said != "" || !strings.Contains(said, want) {
			t.Errorf("%q: reported %q, want %q", defect, said, want)
		}
	}
}

// TestNeighboursAreMetInTurn: of a stage that pays for nothing the cases of a kind meet all neighbours together,
// however many they are and whatever their names.
func TestNeighboursAreMetInTurn(t *testing.T) {
	all := make([]couple, 7)
	for i := range all {
		all[i].what = fmt.Sprint(i)
	}
	for cases := 1; cases <= 5; cases++ {
		met := map[string]bool{}
		for place := range cases {
			c := Case{Stage: func() pipeline.Stage { return &bare{} }, kind: &pipeline.Kind{Name: "bare"}, place: place,
				beside: cases}
			for _, n := range c.inTurn(all) {
				met[n.what] = true
			}
		}
		if len(met) != len(all) {
			t.Errorf("%d cases meet %d of %d neighbours", cases, len(met), len(all))
		}
	}
}

// bare has no settings.
type bare struct{}

func (*bare) Plan(in pipeline.Headers) (pipeline.Work, error) { return pipeline.Work{}, nil }

// TestKindsAreJudged: a stage without settings is one, and a stage that New has given before is none.
func TestKindsAreJudged(t *testing.T) {
	old := &pass{}
	for want, fresh := range map[string]func() pipeline.Stage{
		"":                                 func() pipeline.Stage { return &bare{} },
		"New returns the same stage twice": func() pipeline.Stage { return old },
	} {
		r := &recorder{}
		k := pipeline.Kind{Name: "bare", Version: 1, New: fresh,
			Doc: "Hands on what it gets. Use it where a stage has to do nothing at all.",
			Out: []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: "the table"}}}
		r.run(func(t reporter) { checkKind(t, k) })
		if said := strings.Join(r.said, "\n"); want == "" && said != "" || !strings.Contains(said, want) {
			t.Errorf("reported %q, want %q", said, want)
		}
	}
}
