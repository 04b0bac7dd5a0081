package pipeline_test

import (
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
)

// score returns a figure with everything that a name can be to it.
func score() pipeline.Figures {
	return pipeline.Figures{
		{Name: "score", Parts: "learner", Doc: "d", Better: pipeline.BetterHigh, Interval: true, Headline: true, Learnt: true,
			Beside: []pipeline.Role{pipeline.RealTrain, pipeline.Baseline}},
		{Name: "score_baseline_low", Doc: "a figure of that very name", Better: pipeline.BetterPlain},
		{Name: "errors", Doc: "d", Better: pipeline.BetterLow, Headline: true, Real: "score"},
	}
}

// TestMatch: a name is a figure's own, a reference, an end of either, or of another figure.
func TestMatch(t *testing.T) {
	for name, want := range map[string]struct {
		figure string
		pipeline.FigurePlace
	}{
		"score": {"score", pipeline.FigurePlace{}}, "score_real_train": {"score",
			pipeline.FigurePlace{Role: pipeline.RealTrain}},
		"score_low":             {"score", pipeline.FigurePlace{Of: "score"}},
		"score_real_train_high": {"score", pipeline.FigurePlace{Role: pipeline.RealTrain, Of: "score_real_train"}},
		"score_baseline_low":    {"score_baseline_low", pipeline.FigurePlace{}},
		"errors":                {"errors", pipeline.FigurePlace{}}, "errors_low": {"", pipeline.FigurePlace{}},
		"score_majority": {"", pipeline.FigurePlace{}},
		"scores":         {"", pipeline.FigurePlace{}}, "sco": {"", pipeline.FigurePlace{}}, "": {"", pipeline.FigurePlace{}},
	} {
		f, p, known := score().Find(name)
		if f.Name != want.figure || p != want.FigurePlace || known != (want.figure != "") {
			t.Errorf("%q is %+v of %q, must be %+v of %q", name, p, f.Name, want.FigurePlace, want.figure)
		}
	}
	f := score()[0]
	if !f.Takes("score_low", "tree") || score()[2].Takes("errors", "tree") {
		t.Error("a part of a figure that has parts is not taken, or one of a figure that has none is")
	}
}

// TestByStage: keys of a record find their figure, interval, reference and headline; figures of
// a stage whose kind is not known are plain.
func TestByStage(t *testing.T) {
	s := pipeline.StageFigures{"u": score()}
	values := map[string]float64{"u.score": 2, "u.score_low": 1, "u.score_high": 3, "u.score.a.b": 5,
		"u.score_low.a.b": 4, "u.errors": 1,
		"x.score": 2, "x.score_low": 1, "x.score_high": 3}
	if ends, has := s.Interval(values, "u.score"); !has || ends != [2]float64{1, 3} {
		t.Errorf("the interval is %v", ends)
	}
	for _, key := range []string{"u.score.a.b", "u.errors", "x.score", "u.score_low"} {
		if ends, has := s.Interval(values, key); has {
			t.Errorf("%s has the interval %v", key, ends)
		}
	}
	if !s.IsEnd(values, "u.score_low.a.b") || s.IsEnd(values, "u.score_low.gone") || s.IsEnd(values, "x.score_low") ||
		s.IsEnd(values, "u.score") {
		t.Error("ends are not those of figures that are there")
	}
	if got := strings.Join(s.Headlines(values), " "); got != "u.score u.errors x.score x.score_high" {
		t.Errorf("headlines are %s", got)
	}
	if of, words := s.Reference("u.score.a.b"); of != "u.score_real_train.a.b" || words != "learnt from real rows" {
		t.Errorf("the reference is %s, %s", of, words)
	}
	if of, words := s.Reference("u.errors"); of != "u.score" || words != "the real rows themselves" {
		t.Errorf("the reference is %s, %s", of, words)
	}
	if of, _ := s.Reference("x.score"); of != "" {
		t.Errorf("the reference of what is not declared is %s", of)
	}
}

// TestHalfDeclarations: a figure without words or a direction is an error in the program.
func TestHalfDeclarations(t *testing.T) {
	good := pipeline.Figure{Name: "f", Doc: "d", Better: pipeline.BetterPlain}
	for want, change := range map[string]func(*pipeline.Figure){
		"": func(*pipeline.Figure) {}, "needs a name, a doc": func(f *pipeline.Figure) { f.Doc = "" },
		"and a direction": func(f *pipeline.Figure) { f.Better = "" },
		"with a point":    func(f *pipeline.Figure) { f.Name = "a.b" }, "declared twice": func(f *pipeline.Figure) {
			f.Name = "other"
		},
		"not declared": func(f *pipeline.Figure) { f.Real = "g" },
	} {
		f := good
		change(&f)
		wrong := pipeline.Figures{{Name: "other", Doc: "d", Better: pipeline.BetterLow}, f}.Problem()
		if (wrong == "") != (want == "") || !strings.Contains(wrong, want) {
			t.Errorf("%q, must say %q", wrong, want)
		}
	}
	if !slices.Equal(pipeline.Roles(), []pipeline.Role{pipeline.RealTrain, pipeline.Independent, pipeline.Baseline,
		pipeline.Majority}) {
		t.Error("the order of roles is that of columns and words")
	}
}
