package evaluation

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/runtime"
	"weir/schema"
)

// counter is a stage that compares numbers of rows, and needs a target.
type counter struct {
	Target string `yaml:"target" json:"target" required:"true" doc:"A column."`
}

// Plan implements pipeline.Stage.
func (c *counter) Plan(in pipeline.Headers) (pipeline.Work, error) {
	var ps schema.Problems
	in["real"].Domain.Pick(&ps, "target", []string{c.Target})
	out := pipeline.Header{Form: pipeline.FormMetrics, Schema: pipeline.MetricsSchema(), Class: pipeline.Private}
	return pipeline.Work{Out: pipeline.Headers{"metrics": out}, Run: func(ctx context.Context, _ *pipeline.Env,
		in pipeline.Tables) (pipeline.Tables, error) {
		var list []pipeline.Metric
		for _, port := range []string{"real", "synthetic"} {
			n := int64(0)
			for rec, err := range in[port].Open(ctx) {
				if err != nil {
					return nil, err
				}
				n += rec.NumRows()
			}
			list = append(list, pipeline.Metric{Name: "rows", Column: port, Value: float64(n)})
		}
		list = append(list, pipeline.Metric{Name: "ratio", Value: list[1].Value / list[0].Value})
		return pipeline.Tables{"metrics": pipeline.WriteMetrics(out, list)}, ctx.Err()
	}}, ps.Err()
}

// requested returns a comparison of two files of the columns age and sex, which the domain declares.
func requested(t *testing.T, real, synthetic string) Request {
	t.Helper()
	port := func(name string) pipeline.Port { return pipeline.Port{Name: name, Form: pipeline.FormTable, Doc: name} }
	reg, err := runtime.Registry([]pipeline.Kind{{Name: "counts", Version: 1, Doc: "Compares numbers of rows.",
		In:  []pipeline.Port{port("real"), port("synthetic")},
		Out: []pipeline.Port{{Name: "metrics", Form: pipeline.FormMetrics, Doc: "figures"}},
		Figures: pipeline.Figures{{Name: "rows", Parts: "table", Rows: true, Better: pipeline.BetterPlain,
			Doc: "rows of a table"},
			{Name: "ratio", Better: pipeline.BetterHigh, Doc: "synthetic rows for each real one"}},
		New: func() pipeline.Stage { return &counter{} }}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"real.csv": real, "synthetic.csv": synthetic,
		"domain.yaml": "columns:\n  - {name: age, type: integer, bounds: [0, 99]}\n" +
			"  - {name: sex, type: categorical, categories: [f, m]}\n"} {
		mustWrite(t, filepath.Join(dir, name), text)
	}
	return Request{Real: filepath.Join(dir, "real.csv"), Synthetic: filepath.Join(dir, "synthetic.csv"),
		Domain: filepath.Join(dir, "domain.yaml"), Target: "sex", Workers: 1, Registry: reg,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Progress: runtime.Local("").Progress}
}

func mustWrite(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// evaluatedBy opens the comparison and runs all its kinds.
func evaluatedBy(t *testing.T, r Request) *Evaluation {
	t.Helper()
	e, err := Open(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	kinds, err := Groups(r.Registry, "all")
	if err != nil || len(kinds) != 1 {
		t.Fatalf("%d kinds, %v; must be 1", len(kinds), err)
	}
	if err := e.Group(t.Context(), kinds[0]); err != nil {
		t.Fatal(err)
	}
	return e
}

// TestFiguresOfTwoFiles: a kind compares files that no run made, each with the delimiter of its own header; cells that
// the domain does not allow count as missing, which is said, and columns that a file lacks are left out.
func TestFiguresOfTwoFiles(t *testing.T) {
	e := evaluatedBy(t, requested(t, "age,sex\n1,f\n2,m\n3,f\n4,x\n", "sex;other\nf;1\nm;2\n"))
	if e.Metrics["counts.ratio"] != 0.5 || e.Metrics["counts.rows.real"] != 4 {
		t.Errorf("figures are %v, must be half as many of 4 rows", e.Metrics)
	}
	for _, want := range []string{"column age: is not in ",
		"real: column sex: 1 values are missing or outside the declared"} {
		if !slices.ContainsFunc(e.Notes, func(n string) bool { return strings.Contains(n, want) }) {
			t.Errorf("notes are %q, without %q", e.Notes, want)
		}
	}
	if text := e.Text(false); !strings.HasPrefix(text, "rows: real 4, synthetic 2\n") ||
		!strings.Contains(text, "ratio                                        0.5") {
		t.Errorf("the text is\n%s", text)
	}
}

// TestWhatCannotBeComputedIsANote: a kind without its target gives a note that names the flag, never an error.
func TestWhatCannotBeComputedIsANote(t *testing.T) {
	r := requested(t, "age,sex\n1,f\n", "age,sex\n1,m\n")
	r.Target = ""
	if e := evaluatedBy(t, r); len(e.Metrics) != 0 || !slices.Contains(e.Notes, "counts: not computed: needs --target") {
		t.Errorf("figures %v, notes %q", e.Metrics, e.Notes)
	}
}

// TestOpenRefuses: what is no table of the domain is refused with a word of what was asked, and no cell is quoted.
func TestOpenRefuses(t *testing.T) {
	for want, change := range map[string]func(*Request){
		"absent.csv":          func(r *Request) { r.Real = filepath.Join(filepath.Dir(r.Real), "absent.csv") },
		"absent.yaml":         func(r *Request) { r.Domain = filepath.Join(filepath.Dir(r.Real), "absent.yaml") },
		"no column of the":    func(r *Request) { mustWrite(t, r.Synthetic, "other\n1\n") },
		"must be all or some": func(r *Request) { r.Target = "none" },
	} {
		r := requested(t, "age,sex\n1,f\n", "age,sex\n1,m\n")
		change(&r)
		e, err := Open(t.Context(), r)
		if err == nil {
			e.Close()
			_, err = Groups(r.Registry, "counts,"+r.Target)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, must say %q", err, want)
		}
	}
}
