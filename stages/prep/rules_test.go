package prep

import (
	"slices"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// ruled returns a header with a rule of every form.
func ruled() pipeline.Header {
	d := &domain.Domain{
		Columns: []domain.Column{
			{Name: "age", Type: domain.Integer, Bounds: &[2]float64{0, 120}, Nullable: true},
			{Name: "group", Type: domain.Categorical, Categories: []string{"child", "adult"}, Nullable: true},
			{Name: "entry", Type: domain.Integer, Bounds: &[2]float64{0, 100}},
			{Name: "exit", Type: domain.Integer, Bounds: &[2]float64{0, 100}, Nullable: true},
			{Name: "sex", Type: domain.Categorical, Categories: []string{"f", "m"}},
		},
		Constraints: []domain.Constraint{
			{Impossible: map[string]domain.Choice{"sex": {"m"}, "group": {"child"}}, Doc: "combination"},
			{Impossible: map[string]domain.Choice{"sex": {"m"}, "exit": {"missing"}}, Doc: "missing"},
			{Order: []string{"entry", "exit"}, Doc: "order"},
			{Total: []domain.Cell{{Where: map[string]domain.Choice{"sex": {"f"}}, Count: 1},
				{Where: map[string]domain.Choice{"sex": {"m"}}, Count: 2}}, Doc: "total"},
		},
	}
	return pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Public, Rows: 3})
}

func docsOf(d *domain.Domain) (list []string) {
	for _, c := range d.Constraints {
		list = append(list, c.Doc)
	}
	return list
}

// TestRulesGoWithTheirColumns: what each stage leaves of the rules, and what comes back
// when it is undone.
func TestRulesGoWithTheirColumns(t *testing.T) {
	all := []string{"combination", "missing", "order", "total"}
	bounds := func(outside string, upper float64) pipeline.Stage {
		return &Bounds{Outside: outside, Bounds: map[string]Limits{"exit": {Upper: &upper}}, Columns: []string{"exit"}}
	}
	for _, c := range []struct {
		name        string
		stage       pipeline.Stage
		left, after []string // after: undone; nil: as left
	}{
		{"drop", &Drop{Columns: []string{"exit"}}, []string{"combination", "total"}, nil},
		{"select", &Select{Columns: []string{"exit", "entry"}}, []string{"order"}, nil},
		{"filter", &Filter{Keep: "age > 3", Missing: "drop"}, []string{"combination", "missing", "order"}, nil},
		{"derive a new one", &Derive{Columns: []Derived{{Name: "stay", Formula: "exit - entry", Type: "integer"}}}, all, nil},
		{"derive over one", &Derive{Columns: []Derived{{Name: "sex", Formula: `"f"`, Type: "categorical",
			Categories: []string{"f", "m"}}}}, []string{"order"}, nil},
		{"its own bounds", &Bounds{Outside: "clip"}, all, nil},
		{"narrower, missing", bounds("missing", 50), []string{"combination", "order", "total"}, nil},
		{"narrower, clipped", bounds("clip", 50), []string{"combination", "total"}, nil},
		{"impute", &ImputeConstant{Numbers: map[string]float64{"exit": 50}}, []string{"combination", "order", "total"}, nil},
		{"mark missing", &MissingIndicator{Suffix: "_was"}, all, all},
		{"sentinel", &NotAvailable{Columns: map[string]float64{"entry": 99}, Suffix: "_na"},
			[]string{"combination", "missing", "total"}, all},
		{"discretize", &Discretize{Columns: []string{"entry"}, Strategy: "uniform", Bins: 5, Inverse: "midpoint"},
			[]string{"combination", "missing", "total"}, all},
		{"encode", &Encode{MinMax: [2]float64{-1, 1}, Missing: "category", OneHot: []string{"age", "exit"}}, nil, nil},
		{"split", &Split{Train: 1}, all, nil},
	} {
		h := ruled()
		if c.name == "encode" {
			h.Domain.Columns[0].Nullable, h.Domain.Columns[3].Nullable, c.after = false, false, all
			c.stage = &Encode{MinMax: [2]float64{-1, 1}, Missing: "category"}
		}
		work, err := c.stage.Plan(pipeline.Headers{"in": h})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		out := work.Out["out"]
		if out.Domain == nil {
			out = work.Out["train"]
		}
		if got := docsOf(out.Domain); !slices.Equal(got, c.left) {
			t.Errorf("%s leaves %v, must leave %v", c.name, got, c.left)
		}
		if got := docsOf(h.Domain); !slices.Equal(got, all) {
			t.Errorf("%s changes what it is given: %v", c.name, got)
		}
		back, err := InvertHeader(out)
		if c.after == nil {
			c.after = c.left
		}
		if got := docsOf(back.Domain); err != nil || !slices.Equal(got, c.after) {
			t.Errorf("%s undone has %v, must have %v (%v)", c.name, got, c.after, err)
		}
	}
}

// TestLiftedForGood: a rule that a later stage ends does not come back with a step that is
// undone.
func TestLiftedForGood(t *testing.T) {
	h := ruled()
	for _, s := range []pipeline.Stage{
		&Discretize{Columns: []string{"entry"}, Strategy: "uniform", Bins: 5, Inverse: "midpoint"},
		&Filter{Keep: "age > 3", Missing: "drop"},
		&Derive{Columns: []Derived{{Name: "exit", Formula: "age", Type: "integer"}}},
	} {
		work, err := s.Plan(pipeline.Headers{"in": h})
		if err != nil {
			t.Fatal(err)
		}
		h = work.Out["out"]
	}
	back, err := InvertHeader(h)
	if got := docsOf(back.Domain); err != nil || !slices.Equal(got, []string{"combination"}) {
		t.Errorf("left of the rules: %v (%v)", got, err)
	}
}

// TestEveryKindLeavesRulesThatCanBeRead: whatever a stage does, the rules of its output
// are about columns that are there.
func TestEveryKindLeavesRulesThatCanBeRead(t *testing.T) {
	planned := 0
	for kind, cases := range conformance(t) {
		for _, c := range cases {
			in := pipeline.Headers{}
			for port, input := range c.In {
				in[port] = withOrders(input)
			}
			work, err := c.Stage().Plan(in)
			if err != nil {
				t.Errorf("%s: %v", kind, err)
				continue
			}
			for port, out := range work.Out {
				if out.Domain == nil { // of files
					continue
				}
				if _, ps := domain.ReadRules(out.Domain); len(ps) > 0 {
					t.Errorf("%s, %s: %v", kind, port, ps)
				}
				planned += len(out.Domain.Constraints)
			}
		}
	}
	if planned < 50 {
		t.Errorf("%d rules are left: the test is blind", planned)
	}
}

// withOrders gives a table a rule between each column and the next that it can have.
func withOrders(in pipelinetest.Input) pipeline.Header {
	h := in.Header.Clone()
	var last []string
	for _, c := range h.Domain.Columns {
		if c.Type == domain.Text || c.Encoding != nil {
			continue
		}
		last = append(last, c.Name)
		if n := len(last); n > 1 {
			choice := map[string]domain.Choice{}
			for _, name := range last[n-2:] {
				choice[name] = firstOf(h.Domain.Column(name))
			}
			h.Domain.Constraints = append(h.Domain.Constraints, domain.Constraint{Impossible: choice})
		}
	}
	return h
}

func firstOf(c *domain.Column) domain.Choice {
	switch {
	case c.Type.Coded():
		return domain.Choice{c.Categories[0]}
	case c.Nullable:
		return domain.Choice{"missing"}
	}
	return domain.Choice{"..20"}
}
