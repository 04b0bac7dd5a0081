package pipeline

import (
	"encoding/json"
	"reflect"
	"testing"

	"weir/pipeline/domain"
	"weir/privacy"
	"weir/schema"
)

// TestNothingOfThePlanIsInItsView: whatever a stage writes into what it is shown, the
// plan that is charged and released by stays as it was.
func TestNothingOfThePlanIsInItsView(t *testing.T) {
	x := func() *float64 { v := 0.5; return &v }
	p := &Plan{Epsilon: EpsilonPair{x(), x(), "none"}, Naive: x(), Dataset: DatasetPlan{Budget: &Budget{Epsilon: 1}},
		Findings: []Finding{{Rule: "W01"}}, Public: []PublicFile{{Stage: "in"}},
		Steps: []*Step{{ID: "train", Inputs: map[string][]Ref{"in": {{Stage: "encode"}}}, Settings: json.RawMessage("{}"),
			Outputs: map[string]Output{"model": {}},
			Spends:  []Planned{{Line: privacy.Line{Name: "train"}}},
			Events:  []privacy.JSON{{Event: privacy.Composed{Events: []privacy.Event{privacy.Pure{Epsilon: 1}}}}},
			Write:   []string{"csv"},
			Cost:    privacy.Cost{NoiseMultiplier: x(), Share: x(), Alone: x(), Cumulative: x(), Published: x()}}}}
	before, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if n := scribble(reflect.ValueOf(p.View())); n < 25 {
		t.Fatalf("%d places of the view were written to; the test is blind", n)
	}
	if after, err := json.Marshal(p); err != nil || string(after) != string(before) {
		t.Errorf("the plan has changed:\n%s\n%s (%v)", before, after, err)
	}
}

// TestNothingOfRulesIsInTheirClone: what a stage writes into the header that it is given
// does not reach the rules of others.
func TestNothingOfRulesIsInTheirClone(t *testing.T) {
	created := func() Header {
		return Header{Domain: &domain.Domain{Constraints: []domain.Constraint{
			{Impossible: map[string]domain.Choice{"a": {"x", "y"}}, Order: []string{"a", "b"}, Doc: "d",
				Function: &domain.Function{Column: "a", Of: "b", Map: map[string]schema.Text{"1": "x"}},
				Total:    []domain.Cell{{Where: map[string]domain.Choice{"a": {"x"}}, Count: 3}}},
		}}}
	}
	h := created()
	if n := scribble(reflect.ValueOf(h.Clone().Domain.Constraints)); n < 10 {
		t.Fatalf("%d places of the clone were written to; the test is blind", n)
	}
	if !reflect.DeepEqual(h, created()) {
		t.Errorf("the rules have changed: %+v", h.Domain.Constraints)
	}
}

// scribble writes to all that can be reached from v and counts the places.
func scribble(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			n += scribble(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += scribble(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			n += scribble(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			n += 1 + scribble(v.MapIndex(key))
			v.SetMapIndex(key, reflect.Value{})
		}
	default:
		if v.CanSet() {
			v.SetZero()
			n++
		}
	}
	return n
}
