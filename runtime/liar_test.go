package runtime

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/privacy"
	"weir/privacy/mechanism"
)

// liar is a paid kind that plans four noisy counts and does something else.
type liar struct {
	Lie string `yaml:"lie" json:"lie" doc:"What it does instead."`
}

func (s *liar) Plan(in pipeline.Headers) (pipeline.Work, error) {
	out := pipeline.Header{Form: pipeline.FormModel, Class: pipeline.Released, Domain: in["in"].Domain}
	return pipeline.Work{Out: pipeline.Headers{"model": out}, OfPlan: s.Lie == "writes the count down",
		Spends: []pipeline.Spend{{Name: "counts", Doc: "four counts", Mechanism: func(scale float64) privacy.Mechanism {
			return mechanism.GaussianHistogram{NoiseMultiplier: scale, Releases: 4}
		}}},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			if err := s.pry(ctx, env, in["like"]); err != nil {
				return nil, err
			}
			if err := s.spend(env.Privacy); err != nil && s.Lie != "drops its errors" {
				return nil, err
			}
			return pipeline.Tables{"model": pipeline.WriteFiles(out, []pipeline.File{{Name: "counts", Data: []byte("35021")}})},
				nil
		}}, nil
}

// pry looks where the plan does not say that it looks.
func (s *liar) pry(ctx context.Context, env *pipeline.Env, like pipeline.Table) error {
	switch s.Lie {
	case "reads what is lent":
		_, err := like.Collect(ctx)
		return err
	case "opens a file":
		_, err := env.Files("other.csv", nil, like.Domain)
		return err
	case "resumes":
		return s.stop(env)
	case "stops":
		return errors.New("stopped")
	case "writes the count down":
		env.Plan.Steps[0].Outputs["model"] = pipeline.Output{Class: pipeline.Public}
		like.Domain.Columns[0].Doc = "35021"
	case "draws a secret":
		env.Secret("coin")
	}
	return nil
}

// stop fails once, with a file that looks like a checkpoint.
func (s *liar) stop(env *pipeline.Env) error {
	if f, err := env.Restore("checkpoint"); err == nil {
		return f.Close()
	}
	f, err := env.Create("checkpoint")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), errors.New("stopped"))
}

func (s *liar) spend(payer privacy.Payer) error {
	if s.Lie == "never opens" {
		return nil
	}
	paid, err := payer.Open("counts")
	if err != nil {
		return err
	}
	if s.Lie == "resumes" {
		return paid.Resume(4)
	}
	if s.Lie == "opens twice" {
		payer.Open("counts")
	}
	if s.Lie == "opens another" {
		payer.Open("means")
	}
	if s.Lie == "one stream twice" {
		use, err := paid.Next()
		if err != nil {
			return err
		}
		use.Stream("noise", 0)
		use.Stream("noise", 0)
		privacy.Release(use, 0, 0)
	}
	uses := map[string]int{"uses too few": 3, "uses too many": 5, "drops its errors": 5, "one stream twice": 3}[s.Lie]
	if uses == 0 {
		uses = 4
	}
	for range uses {
		if _, err := mechanism.ReleaseCounts(paid, []int64{1, 2}); err != nil {
			return err
		}
	}
	return nil
}

const liarSpec = `weir: 1
name: lies
dataset: {demo: cardio, demo_rows: 50, rows_public: 50}
privacy: {epsilon: 1, delta: 1e-6, adjacency: replace_one}
stages:
  counts: {kind: liar, lie: LIE, like: dataset}
`

// TestLiesFail: a stage that does not spend exactly what its plan lists fails, and
// nothing of it is stored or released.
func TestLiesFail(t *testing.T) {
	for lie, want := range map[string]string{
		"none": "", "never opens": "spent 0 of 1 planned charges", "opens twice": "opened twice",
		"opens another": "does not have",
		"uses too few":  "used 3 of 4", "uses too many": "5th time", "drops its errors": "5th time",
		"one stream twice":   "asked for twice",
		"reads what is lent": "lends a header", "opens a file": "not in the stage's plan",
		"draws a secret": "its plan draws none",
	} {
		dir := t.TempDir()
		err := runSpec(t, strings.Replace(liarSpec, "LIE", lie, 1), dir)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, must be %q", lie, err, want)
		}
		for _, pattern := range []string{"lies/*/release/*", "cache/?????*/*"} {
			if kept, _ := filepath.Glob(filepath.Join(dir, pattern)); (len(kept) > 0) != (want == "") {
				t.Errorf("%s: %s holds %v", lie, pattern, kept)
			}
		}
	}
}

// TestResumeTakesWhatWasReleased: a file left by an attempt that drew nothing does
// not let a stage skip its noise.
func TestResumeTakesWhatWasReleased(t *testing.T) {
	dir, spec := t.TempDir(), strings.Replace(liarSpec, "LIE", "resumes", 1)
	if err := runSpec(t, spec, dir); err == nil || !strings.Contains(err.Error(), "stopped") {
		t.Fatalf("the first attempt: %v, must stop", err)
	}
	if err := runSpec(t, spec, dir); err == nil || !strings.Contains(err.Error(), "nobody took") {
		t.Errorf("the second attempt: %v, must be refused", err)
	}
}

// TestStagesWriteToCopies: what a stage writes into the headers and the plan that
// it is given is seen by nobody.
func TestStagesWriteToCopies(t *testing.T) {
	dir := t.TempDir()
	if err := runSpec(t, strings.Replace(liarSpec, "LIE", "writes the count down", 1), dir); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "lies/*/release/*"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%v %v", files, err)
	}
	for _, f := range files {
		if text, err := os.ReadFile(f); err != nil || !strings.HasSuffix(f, ".model") &&
			bytes.Contains(text, []byte("35021")) {
			t.Errorf("%s holds what a stage wrote into its headers (%v)", f, err)
		}
	}
}

// runSpec runs a spec over the kinds of this test.
func runSpec(t *testing.T, text, out string) error {
	t.Helper()
	_, err := Run(t.Context(), planSpec(t, text), testOptions(out))
	return err
}

func testOptions(out string) Options {
	seed := uint64(1)
	return Options{Out: out, Workers: 1, Insecure: &seed, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Progress: silence{}, Build: "one", Clock: time.Now, Random: rand.Reader}
}

func planSpec(t *testing.T, text string) *compile.Plan {
	t.Helper()
	table := []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "a table"},
		{Name: "like", Form: pipeline.FormTable, Lends: true, Doc: "columns"}}
	one := []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: "a table"}}
	reg, err := Registry([]pipeline.Kind{
		{Name: "liar", Version: 1, Doc: "Lies.", In: table, Out: []pipeline.Port{{Name: "model", Form: pipeline.FormModel,
			Doc: "a model"}}, New: func() pipeline.Stage { return &liar{} }},
		{Name: "pass", Version: 1, Doc: "Passes rows on.", In: table[:1], Out: one,
			New: func() pipeline.Stage { return &pass{} }},
		{Name: "half", Version: 1, Doc: "Has two outputs.", In: table[:1],
			Out: []pipeline.Port{{Name: "train", Form: pipeline.FormTable, Doc: "a table"},
				{Name: "test", Form: pipeline.FormTable, Doc: "a table"}}, New: func() pipeline.Stage { return &half{} }},
		{Name: "reader", Version: 1, Doc: "Reads.", In: table[:1],
			Out: []pipeline.Port{{Name: "out", Form: pipeline.FormMetrics, Doc: "figures"}},
			New: func() pipeline.Stage { return &reader{} }},
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := spec.Parse(spec.Input{File: "spec.yaml", Data: []byte(text)}, reg)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := compile.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

type silence struct{}

func (silence) Start(string, string)          {}
func (silence) Resumed(string, int64, int64)  {}
func (silence) Progress(string, int64, int64) {}
func (silence) End(string, bool, error)       {}

// TestReadersSeeOneFile: whatever becomes of the name, every reader of a run sees
// the file that was opened first, and a change of its content is found at the end.
func TestReadersSeeOneFile(t *testing.T) {
	for name, c := range map[string]struct {
		change func(path string) error
		found  bool
	}{
		"nothing": {func(string) error { return nil }, false},
		"another in its place": {func(path string) error {
			return errors.Join(os.WriteFile(path+".new", []byte("b\n2\n"), 0o600), os.Rename(path+".new", path))
		}, false},
		"removed":   {os.Remove, false},
		"truncated": {func(path string) error { return os.Truncate(path, 2) }, true},
		"written over": {func(path string) error {
			time.Sleep(20 * time.Millisecond) // the clock of the file system ticks
			return os.WriteFile(path, []byte("a\n9\n"), 0o600)
		}, true},
		"longer": {func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("2\n")
			return errors.Join(err, f.Close())
		}, true},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "data.csv")
		inputs := heldIn(t, dir)
		if err := os.WriteFile(path, []byte("a\n1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := inputs.Digest(t.Context(), "data.csv"); err != nil {
			t.Fatal(err)
		}
		if err := c.change(path); err != nil {
			t.Fatal(err)
		}
		if err := inputs.AllUnchanged(t.Context()); errors.Is(err, pipeline.ErrChanged) != c.found {
			t.Errorf("%s: %v, must be found: %v", name, err, c.found)
		}
		if c.found {
			continue
		}
		f, err := inputs.Open("data.csv")
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(f); err != nil || string(text) != "a\n1\n" {
			t.Errorf("%s: a later reader sees %q, %v", name, text, err)
		}
	}
}
