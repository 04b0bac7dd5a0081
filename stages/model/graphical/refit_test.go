package graphical

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// TestModelsWithoutNoiseAreFittedAgain: a run without privacy states the noise of its
// tables as so small that its square is 0, which is what an exact table has.
func TestModelsWithoutNoiseAreFittedAgain(t *testing.T) {
	bayes := privBayesKind().New().(*PrivBayes)
	bayes.Bins = 3
	for _, stage := range []pipeline.Stage{bayes, independentKind().New()} {
		refitted(t, attempt{stage: stage, in: ward(30)}.model(t))
	}
}

func refitted(t *testing.T, m *released) {
	t.Helper()
	other, err := m.Copy(t.Context(), rand.New(rand.NewPCG(1, 2)), 1)
	if err != nil {
		t.Fatal(err)
	}
	if n := drawn(t, other.(*released), 20).NumRows(); n != 20 {
		t.Errorf("%d rows, must be 20", n)
	}
	if _, err := (&Intervals{Copies: 2}).list(t.Context(), pipelinetest.Env(1), m); err != nil {
		t.Error(err)
	}
}

// TestEditedModelsAreFittedAgain: whoever has a model may write any noise into it, however
// small, and take its rules away, whose structural zeros stay.
func TestEditedModelsAreFittedAgain(t *testing.T) {
	whole, _ := attempt{stage: independentKind().New(), in: stays(60), multiplier: 1}.run(t)
	for what, edit := range map[string]func(m *released){
		"no noise": func(m *released) {
			for i := range m.Measured {
				m.Measured[i].Sigma = 5e-324
			}
			for j := range m.Columns {
				for i := range m.Columns[j].Leaves {
					m.Columns[j].Leaves[i].Var = min(m.Columns[j].Leaves[i].Var, 5e-324)
				}
			}
		},
		"no other rules": func(m *released) { m.Domain.Constraints = follows(m) },
		"little of it":   func(m *released) { m.Measured[1].Sigma = 1e-170 },
		"counts of 1e17": func(m *released) { m.Measured[0].Y[0], m.Model.Total = 1e17, 1e17 },
	} {
		m, err := edited(t, whole, edit)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		t.Run(what, func(t *testing.T) { refitted(t, m) })
	}
}

// TestEditedModelsAreRefused with a sentence, before anything is drawn.
func TestEditedModelsAreRefused(t *testing.T) {
	whole, _ := attempt{stage: independentKind().New(), in: stays(60), multiplier: 1}.run(t)
	for says, edit := range map[string]func(m *released){
		"must be a total of 1 row":         func(m *released) { m.Model.Total = 1e300 },
		"must be a total of 1 row or more": func(m *released) { m.Model.Total = 1e-300 },
		"must be between -1e+12 and 1e+12": func(m *released) { m.Model.Factors[0].Log[0] = 1e308 },
		"no row is found that keeps all":   func(m *released) { m.Domain.Constraints = append(follows(m), never()...) },
		"above 0":                          func(m *released) { m.Measured[0].Sigma = 0 },
		"constraints[0].impossible: is of o": func(m *released) {
			alone := domain.Constraint{Impossible: map[string]domain.Choice{"age": {"0.."}}}
			m.Domain.Constraints = append([]domain.Constraint{alone}, follows(m)...)
		},
	} {
		_, err := edited(t, whole, edit)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, must say %q", err, says)
		}
	}
}

// follows are the rules by which the model's derived columns follow from others.
func follows(m *released) (list []domain.Constraint) {
	for _, c := range m.Domain.Constraints {
		if c.Function != nil && slices.Contains(m.Derived, c.Function.Column) {
			list = append(list, c)
		}
	}
	return list
}

// never is rules of which no row keeps all.
func never() []domain.Constraint {
	every := domain.Choice{"a", "b", "c", "d"}
	return []domain.Constraint{{Impossible: map[string]domain.Choice{"ward": every, "age": {"..50"}}},
		{Impossible: map[string]domain.Choice{"ward": every, "age": {"51.."}}}}
}

// edited is a model as it is read back after somebody has changed it.
func edited(t *testing.T, whole pipeline.Table, edit func(*released)) (*released, error) {
	t.Helper()
	m := read(t, whole)
	edit(m)
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	back, err := decode(map[string][]byte{modelPart: text})
	if err != nil {
		return nil, err
	}
	return back.(*released), nil
}
