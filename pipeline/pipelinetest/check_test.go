package pipelinetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
)

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
		return pipeline.Tables{"out": t.Map(t.Header, func(r arrow.Record) (arrow.Record, error) { return r.NewSlice(0, min(1, r.NumRows())), nil })}, nil
	}
	return pipeline.Tables{"out": t}, nil
}

// Each defect is reported, and a stage without one is not.
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
		d := &domain.Domain{Columns: []domain.Column{{Name: "pressure", Type: domain.Numeric}, {Name: "grade", Type: domain.Ordinal, Categories: []string{"low", "high"}}}}
		rows := Rows(d, []any{1.5, 4242.5, 3, 4, 5, 6, 7, 8, 9}, []any{"low", "low", "high", "low", "low", "high", "low", "low", "high"})
		c := Case{
			Stage: func() pipeline.Stage { return &pass{Columns: []string{"grade"}, defect: defect, plans: &plans} },
			In:    map[string]Input{"in": {Header: pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1)}), Rows: rows}},
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

// TestNeighboursAreMetInTurn: of a stage that pays for nothing the cases of a kind meet all neighbours together, however many
// they are and whatever their names.
func TestNeighboursAreMetInTurn(t *testing.T) {
	all := make([]neighbour, 7)
	for i := range all {
		all[i].what = fmt.Sprint(i)
	}
	for beside := 1; beside <= 5; beside++ {
		met := map[string]bool{}
		for place := range beside {
			c := Case{Stage: func() pipeline.Stage { return &bare{} }, kind: &pipeline.Kind{Name: "bare"}, place: place, beside: beside}
			for _, n := range c.inTurn(all) {
				met[n.what] = true
			}
		}
		if len(met) != len(all) {
			t.Errorf("%d cases meet %d of %d neighbours", beside, len(met), len(all))
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
		k := pipeline.Kind{Name: "bare", Version: 1, New: fresh, Doc: "Hands on what it gets. Use it where a stage has to do nothing at all.",
			Out: []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: "the table"}}}
		r.run(func(t reporter) { checkKind(t, k) })
		if said := strings.Join(r.said, "\n"); want == "" && said != "" || !strings.Contains(said, want) {
			t.Errorf("reported %q, want %q", said, want)
		}
	}
}
