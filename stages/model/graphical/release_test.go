package graphical

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/stages/model/artifact"
)

// TestModelIsReadBack: a released model read back is the fitted one to the bit, holds
// every measurement, and no private number: two runs of one key on one table release
// the same, whatever the number of workers.
func TestModelIsReadBack(t *testing.T) {
	a := attempt{stage: marginalTreeKind().New(), in: ward(400), multiplier: 0.05}
	one, _ := a.run(t)
	a.workers = 3
	again, _ := a.run(t)
	if fingerprint(t, one) != fingerprint(t, again) {
		t.Error("three workers release another model than one")
	}
	m := read(t, one)
	data, err := json.Marshal(m)
	must(t, err)
	back, err := decode(map[string][]byte{modelPart: data})
	must(t, err)
	if x, y := drawRows(t, m, 500), drawRows(t, back.(*released), 500); !array.RecordEqual(x, y) {
		t.Error("a model that is written and read draws other rows")
	}
	singles, pairs := map[int]bool{}, 0
	for _, x := range m.Measured {
		if singles[x.Columns[0]] = true; len(x.Columns) == 2 {
			pairs++
		}
		if !(x.Sigma > 0) || len(x.Y) == 0 {
			t.Errorf("a measurement of columns %v has %d counts of sigma %g", x.Columns, len(x.Y), x.Sigma)
		}
	}
	if len(singles) != len(m.Columns) || pairs == 0 {
		t.Errorf("%d of %d columns and %d pairs are measured", len(singles), len(m.Columns), pairs)
	}
}

// TestDecodeRefuses: a model may come from anyone. Each damage is refused before
// memory of its size is taken, with the path of what is wrong.
func TestDecodeRefuses(t *testing.T) {
	whole := attempt{stage: marginalTreeKind().New(), in: ward(400), multiplier: 0.05}.model(t)
	data, err := json.Marshal(whole)
	must(t, err)
	for want, damage := range map[string]func(m *released){
		"columns: are 0":                 func(m *released) { m.Columns = nil },
		"domain: is missing":             func(m *released) { m.Domain = nil },
		"domain.columns":                 func(m *released) { m.Domain.Columns[0].Name = "" },
		"without bounds":                 func(m *released) { m.Domain.Columns[0].Bounds = nil },
		"columns[0]: cells":              func(m *released) { m.Columns[0].Cells++ },
		"columns[0]: leaves[0]: is":      func(m *released) { m.Columns[0].Leaves[0].Hi = 0 },
		"columns[1]: leaves[1]: is":      func(m *released) { m.Columns[1].Leaves[1].Lo-- },
		"columns[2]: leaves[0]: is":      func(m *released) { m.Columns[2].Leaves[0].Count = -1 },
		"columns[3]: leaves: end":        func(m *released) { m.Columns[3].Leaves = m.Columns[3].Leaves[:1] },
		"columns[0]: bins[0]":            func(m *released) { m.Columns[0].Bins[0][1] = 0 },
		"columns[0]: bins: end":          func(m *released) { m.Columns[0].Bins = nil },
		"columns[4]: order[1]":           func(m *released) { m.Columns[4].Order[1] = m.Columns[4].Order[0] },
		"columns[4]: order[0]: is 70000": func(m *released) { m.Columns[4].Order[0] = 70000 },
		"columns[4]: order: has":         func(m *released) { m.Columns[4].Order = nil },
		"columns[0]: order: has":         func(m *released) { m.Columns[0].Order = []int{0} },
		"within: has 0 points":           func(m *released) { m.Columns[1].Within = map[int][]float64{3: {}} },
		"within[3]: has no count":        func(m *released) { m.Columns[1].Within = map[int][]float64{3: {0, 0}} },
		"within[3]: has a count":         func(m *released) { m.Columns[1].Within = map[int][]float64{3: {-1, 4}} },
		"size: is 0":                     func(m *released) { m.Size = 0 },
		"size: is 1e+06":                 func(m *released) { m.Size = 1e6 },
		"model.Domain":                   func(m *released) { m.Model.Domain = m.Model.Domain[1:] },
		"cliques":                        func(m *released) { m.Model.Cliques = nil },
		"model.Total":                    func(m *released) { m.Model.Total = 0 },
		"measured[0]: columns: are [9]":  func(m *released) { m.Measured[0].Columns = []int{9} },
		"measured[1]: has":               func(m *released) { m.Measured[1].Sigma = 0 },
		"measured[2]: has":               func(m *released) { m.Measured[2].Y = m.Measured[2].Y[1:] },
		"measured[3]: cells":             func(m *released) { m.Measured[3].Cells[0][0] = -1 },
	} {
		m := &released{}
		must(t, json.Unmarshal(data, m))
		damage(m)
		damaged, err := json.Marshal(m)
		must(t, err)
		if _, err := decode(map[string][]byte{modelPart: damaged}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, must say %q", err, want)
		}
	}
	if _, err := decode(map[string][]byte{"x": nil}); err == nil {
		t.Error("a model without its part is read")
	}
}

// FuzzModel: no text panics or takes memory that its length does not explain, and
// what is read draws rows.
func FuzzModel(f *testing.F) {
	small := attempt{stage: marginalTreeKind().New(), in: table([]int{2, 3}, []int{0, 1, 1, 0}, []int{0, 2, 2, 0}),
		multiplier: 0.05}.model(f)
	data, err := json.Marshal(small)
	must(f, err)
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decode(map[string][]byte{modelPart: data})
		if err != nil || len(data) > 1<<16 {
			return
		}
		if n := m.Header().Domain.Columns; len(n) > 64 {
			return
		}
		rows, err := m.Draw(artifact.Drawing{Rows: 3, Random: func(string) *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }})
		if err == nil {
			_, err = rows(3)
		}
		if err != nil {
			t.Error(fmt.Errorf("a model that is read draws no rows: %w", err))
		}
	})
}

// TestPlanTellsEveryProblem at once, by name and with what is accepted.
func TestPlanTellsEveryProblem(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "note", Type: domain.Text}, {Name: "height", Type: domain.Numeric}, {Name: "sex", Type: domain.Categorical,
			Categories: []string{"f", "m"}},
		{Name: "scaled", Type: domain.Numeric, Bounds: &[2]float64{0, 1}, Encoding: &domain.Encoding{Form: domain.MinMax,
			Width: 1}},
	}}
	s := marginalTreeKind().New().(*MarginalTree)
	s.Target, s.Workload = "sexx", []Wanted{{Columns: []string{"sex", "nothing"}}}
	s.Edges = map[string][]float64{"sex": {0, 1}, "height": {2, 1}, "other": {0, 1}}
	s.OneWay, s.Select = 0.9, 0.2
	_, err := s.Plan(pipeline.Headers{"in": header(d, 10)})
	if err == nil {
		t.Fatal("the plan is made")
	}
	for _, want := range []string{"column note (text)", "column height (numeric)", "column scaled is encoded", "edges.sex",
		"edges.height", "edges.other", "target: ", "did you mean sex?", "workload[0].columns[1]", "select: "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("problems do not say %q:\n%v", want, err)
		}
	}
	wide := &domain.Domain{}
	for i := range 3000 {
		wide.Columns = append(wide.Columns, domain.Column{Name: fmt.Sprint("x", i), Type: domain.Integer,
			Bounds: &[2]float64{0, 99}})
	}
	s = marginalTreeKind().New().(*MarginalTree)
	s.MaxModelSize = 1
	if _, err := s.Plan(pipeline.Headers{"in": header(wide, 10)}); err == nil || !strings.Contains(err.Error(),
		"max_model_size: is 1 MB, with 3000 columns") {
		t.Errorf("3000 columns in 1 MB: %v", err)
	}
}

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
	if n := drawRows(t, other.(*released), 20).NumRows(); n != 20 {
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
	for message, edit := range map[string]func(m *released){
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
		if err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%v, must say %q", err, message)
		}
	}
}

// follows returns the rules by which the model's derived columns follow from others.
func follows(m *released) (list []domain.Constraint) {
	for _, c := range m.Domain.Constraints {
		if c.Function != nil && slices.Contains(m.Derived, c.Function.Column) {
			list = append(list, c)
		}
	}
	return list
}

// never returns rules of which no row keeps all.
func never() []domain.Constraint {
	every := domain.Choice{"a", "b", "c", "d"}
	return []domain.Constraint{{Impossible: map[string]domain.Choice{"ward": every, "age": {"..50"}}},
		{Impossible: map[string]domain.Choice{"ward": every, "age": {"51.."}}}}
}

// edited returns a model as it is read back after somebody has changed it.
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
