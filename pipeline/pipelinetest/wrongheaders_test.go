package pipelinetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/privacy"
)

// editing is the right kind, but that its run edits headers.
type editing struct {
	independent
	edit func(in pipeline.Table, out pipeline.Headers, exact [][]int64)
}

func (s *editing) Plan(in pipeline.Headers) (pipeline.Work, error) {
	w, err := s.independent.Plan(in)
	right, out := w.Run, w.Out
	w.Run = func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
		exact, err := marginals(ctx, in["in"])
		if err != nil {
			return nil, err
		}
		s.edit(in["in"], out, exact)
		return right(ctx, env, in)
	}
	return w, err
}

// What a run writes into a header is read by others and released with domain.yaml.
func TestEditedHeadersAreFound(t *testing.T) {
	for what, f := range map[string]struct {
		edit func(in pipeline.Table, out pipeline.Headers, exact [][]int64)
		says string
	}{
		"nothing": {func(pipeline.Table, pipeline.Headers, [][]int64) {}, ""},
		"rows in a doc": {func(in pipeline.Table, _ pipeline.Headers, exact [][]int64) {
			in.Domain.Columns[0].Doc = fmt.Sprint(exact)
		}, "the run changed the header of in"},
		"its own class": {func(_ pipeline.Table, out pipeline.Headers, _ [][]int64) {
			h := out["model"]
			h.Class = pipeline.Public
			out["model"] = h
		}, "the run changed the header of model"},
	} {
		r, s := &recorder{}, &editing{edit: f.edit}
		s.NoiseMultiplier = sigma
		r.run(func(t reporter) { checkCase(t, independentKind(), independentCase(s, visitors(40, privacy.AddRemove))) })
		said := strings.Join(r.said, "\n")
		if f.says == "" && said != "" || !strings.Contains(said, f.says) {
			t.Errorf("%s: reported %q, want %q", what, said, f.says)
		}
	}
}
