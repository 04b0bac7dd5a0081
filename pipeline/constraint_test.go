package pipeline

import (
	"reflect"
	"testing"

	"weir/schema"
)

// TestNothingOfRulesIsInTheirClone: what a stage writes into the header that it is given
// does not reach the rules of others.
func TestNothingOfRulesIsInTheirClone(t *testing.T) {
	made := func() Header {
		return Header{Domain: &Domain{Constraints: []Constraint{
			{Impossible: map[string]Choice{"a": {"x", "y"}}, Order: []string{"a", "b"}, Doc: "d",
				Function: &Function{Column: "a", Of: "b", Map: map[string]schema.Text{"1": "x"}},
				Total:    []Cell{{Where: map[string]Choice{"a": {"x"}}, Count: 3}}},
		}}}
	}
	h := made()
	if n := scribble(reflect.ValueOf(h.Clone().Domain.Constraints)); n < 10 {
		t.Fatalf("%d places of the clone were written to; the test is blind", n)
	}
	if !reflect.DeepEqual(h, made()) {
		t.Errorf("the rules have changed: %+v", h.Domain.Constraints)
	}
}
