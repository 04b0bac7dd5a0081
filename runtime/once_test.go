package runtime

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"weir/pipeline"
	"weir/pipeline/compile"
)

// shape makes steps from "id kind: inputs"; kinds are lazy, two (lazy, two outputs), file
// (lazy, of a file), full, and written (lazy, written as two formats).
func shape(lines ...string) *compile.Plan {
	p := &compile.Plan{Plan: &pipeline.Plan{}}
	for _, line := range lines {
		head, inputs, _ := strings.Cut(line, ":")
		id, kind, _ := strings.Cut(head, " ")
		s := compile.Step{Step: &pipeline.Step{ID: id, Lazy: kind != "full", Inputs: map[string][]pipeline.Ref{}},
			Ports: []pipeline.Port{{Name: "in"}, {Name: "like", Lends: true}}}
		s.Work.Out = pipeline.Headers{"out": {}}
		switch kind {
		case "two":
			s.Work.Out = pipeline.Headers{"train": {}, "test": {}}
		case "file":
			s.Work.Files = []pipeline.FileUse{{Path: "x.csv"}}
		case "written":
			s.Work.Write = []string{"csv", "parquet"}
		}
		for _, from := range strings.Fields(inputs) {
			port, stage, lent := "in", strings.TrimPrefix(from, "~"), strings.HasPrefix(from, "~")
			if lent {
				port = "like"
			}
			s.Inputs[port] = append(s.Inputs[port], pipeline.Ref{Stage: stage})
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

func TestWhatIsStoredOnce(t *testing.T) {
	for name, c := range map[string]struct {
		steps []string
		want  string
	}{
		"one reader":                {[]string{"clean lazy: dataset", "train full: clean"}, ""},
		"two readers of the source": {[]string{"a full: dataset", "b full: dataset"}, "dataset"},
		"a header is lent":          {[]string{"a full: dataset", "b full: ~dataset"}, ""},
		"the last common table": {[]string{"drop lazy: dataset", "clean lazy: drop", "a full: clean", "b full: clean"},
			"clean"},
		"before a split": {[]string{"clean lazy: dataset", "split two: clean", "a full: split", "b full: split"},
			"clean"},
		"a split of the source": {[]string{"split two: dataset", "a full: split", "b full: split"}, "dataset"},
		"cheap behind what is stored": {[]string{"clean lazy: dataset", "split two: clean", "code lazy: split",
			"a full: code", "b full: code",
			"c full: split"}, "clean"},
		"behind a stage that is stored": {[]string{"fit full: dataset", "code lazy: fit", "a full: code", "b full: code"},
			""},
		"branches that part early": {[]string{"x lazy: dataset", "y lazy: dataset", "a full: x", "b full: y",
			"c full: y"}, "dataset"},
		"a table read twice":     {[]string{"clean lazy: dataset", "both lazy: clean clean", "a full: both"}, "clean"},
		"written in two formats": {[]string{"clean lazy: dataset", "out written: clean"}, "out"},
		"another file":           {[]string{"other file:", "a full: dataset other", "b full: other"}, "other"},
	} {
		var got []string
		for id, is := range storedOnce(shape(c.steps...)) {
			if is {
				got = append(got, id)
			}
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: stores %q, must store %q", name, text, c.want)
		}
	}
}

// pass is a lazy kind, and half one of two outputs.
type pass struct{}

func (pass) Plan(in pipeline.Headers) (pipeline.Work, error) { return lazyWork(in, "out") }

type half struct{}

func (half) Plan(in pipeline.Headers) (pipeline.Work, error) { return lazyWork(in, "train", "test") }

func lazyWork(in pipeline.Headers, ports ...string) (pipeline.Work, error) {
	w := pipeline.Work{Out: pipeline.Headers{}, Lazy: true}
	for _, p := range ports {
		w.Out[p] = in["in"]
	}
	w.Run = func(_ context.Context, _ *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
		out := pipeline.Tables{}
		for _, p := range ports {
			out[p] = in["in"]
		}
		return out, nil
	}
	return w, nil
}

// reader reads its table once and says nothing of it.
type reader struct{}

func (reader) Plan(in pipeline.Headers) (pipeline.Work, error) {
	out := pipeline.Header{Form: pipeline.FormMetrics, Schema: pipeline.MetricsSchema(), Class: pipeline.Private}
	return pipeline.Work{Out: pipeline.Headers{"out": out}, Run: func(ctx context.Context, _ *pipeline.Env,
		in pipeline.Tables) (pipeline.Tables, error) {
		_, err := in["in"].Collect(ctx)
		return pipeline.Tables{"out": pipeline.WriteMetrics(out, nil)}, err
	}}, nil
}

// TestSourceIsOpenedOnce in a pipeline of the quickstart's shape: two lazy stages, a split,
// and seven readers of its parts. What is stored is for the owner alone, a second run of
// another spec finds it, and one of another build of weir does not.
func TestSourceIsOpenedOnce(t *testing.T) {
	const spec = `weir: 1
name: shape
dataset: {demo: cardio, demo_rows: 500, rows_public: 500}
privacy: {epsilon: inf, claims: none, delta: 1e-6, adjacency: replace_one}
stages:
  features: {kind: pass}
  clean: {kind: pass}
  split: {kind: half}
  code: {kind: pass, from: split.train}
  a: {kind: reader, from: code}
  b: {kind: reader, from: split.test}
  c: {kind: reader, from: split.train}
  d: {kind: reader, from: split.test}
  e: {kind: reader, from: split.train}
  f: {kind: reader, from: split.test}
  g: {kind: reader, from: split.train}
`
	out := t.TempDir()
	run := func(text, build string, want int64) {
		t.Helper()
		opts := testOptions(out)
		opts.Workers, opts.Fresh, opts.Build = 4, true, build
		if opens := opensOf(t, planSpec(t, text), opts); opens != want {
			t.Errorf("the source is opened %d times, must be %d", opens, want)
		}
	}
	run(spec, "one", 1)
	run(strings.Replace(spec, "  g: {kind: reader, from: split.train}\n", "", 1), "one", 0)
	run(spec, "two", 1)
	files, err := filepath.Glob(filepath.Join(out, "cache/*/*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range append(files, filepath.Join(out, "cache")) {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v (%v), must be its owner's alone", f, info.Mode(), err)
		}
	}
}

// opensOf runs a plan and counts how often its source is opened.
func opensOf(t *testing.T, plan *compile.Plan, opts Options) int64 {
	t.Helper()
	inputs := heldIn(t, t.TempDir())
	s, err := openSource(t.Context(), plan, inputs, opts)
	if err != nil {
		t.Fatal(err)
	}
	var opens atomic.Int64
	rows := s.table.Open
	s.table.Open = func(ctx context.Context) pipeline.Batches {
		opens.Add(1)
		return rows(ctx)
	}
	if _, err := newRun(plan, s, inputs, opts).do(t.Context()); err != nil {
		t.Fatal(err)
	}
	return opens.Load()
}
