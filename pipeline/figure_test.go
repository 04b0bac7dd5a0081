package pipeline_test

import (
	"slices"
	"strings"
	"testing"

	"weir/pipeline/figure"
)

// score is a figure with everything that a name can be to it.
func score() figure.List {
	return figure.List{
		{Name: "score", Parts: "learner", Doc: "d", Better: figure.BetterHigh, Interval: true, Headline: true, Learnt: true,
			Beside: []figure.Role{figure.RealTrain, figure.Baseline}},
		{Name: "score_baseline_low", Doc: "a figure of that very name", Better: figure.BetterPlain},
		{Name: "errors", Doc: "d", Better: figure.BetterLow, Headline: true, Real: "score"},
	}
}

// TestMatch: a name is a figure's own, a reference, an end of either, or of another figure.
func TestMatch(t *testing.T) {
	for name, want := range map[string]struct {
		figure string
		figure.Place
	}{
		"score": {"score", figure.Place{}}, "score_real_train": {"score", figure.Place{Role: figure.RealTrain}},
		"score_low":             {"score", figure.Place{Of: "score"}},
		"score_real_train_high": {"score", figure.Place{Role: figure.RealTrain, Of: "score_real_train"}},
		"score_baseline_low":    {"score_baseline_low", figure.Place{}},
		"errors":                {"errors", figure.Place{}}, "errors_low": {"", figure.Place{}}, "score_majority": {"", figure.Place{}},
		"scores": {"", figure.Place{}}, "sco": {"", figure.Place{}}, "": {"", figure.Place{}},
	} {
		f, p, known := score().Find(name)
		if f.Name != want.figure || p != want.Place || known != (want.figure != "") {
			t.Errorf("%q is %+v of %q, must be %+v of %q", name, p, f.Name, want.Place, want.figure)
		}
	}
	f := score()[0]
	if !f.Takes("score_low", "tree") || score()[2].Takes("errors", "tree") {
		t.Error("a part of a figure that has parts is not taken, or one of a figure that has none is")
	}
}

// TestByStage: keys of a record find their figure, interval, reference and headline; those of
// a stage whose kind is not known are plain.
func TestByStage(t *testing.T) {
	s := figure.ByStage{"u": score()}
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
	if !s.IsEnd(values, "u.score_low.a.b") || s.IsEnd(values, "u.score_low.gone") || s.IsEnd(values, "x.score_low") || s.IsEnd(values, "u.score") {
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
	good := figure.Figure{Name: "f", Doc: "d", Better: figure.BetterPlain}
	for want, change := range map[string]func(*figure.Figure){
		"": func(*figure.Figure) {}, "needs a name, a doc": func(f *figure.Figure) { f.Doc = "" },
		"and a direction": func(f *figure.Figure) { f.Better = "" },
		"with a point":    func(f *figure.Figure) { f.Name = "a.b" }, "declared twice": func(f *figure.Figure) { f.Name = "other" },
		"not declared": func(f *figure.Figure) { f.Real = "g" },
	} {
		f := good
		change(&f)
		wrong := figure.List{{Name: "other", Doc: "d", Better: figure.BetterLow}, f}.Problem()
		if (wrong == "") != (want == "") || !strings.Contains(wrong, want) {
			t.Errorf("%q, must say %q", wrong, want)
		}
	}
	if !slices.Equal(figure.Roles(), []figure.Role{figure.RealTrain, figure.Independent, figure.Baseline, figure.Majority}) {
		t.Error("the order of roles is that of columns and words")
	}
}
