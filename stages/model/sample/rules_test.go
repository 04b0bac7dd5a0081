package sample

import (
	"errors"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
)

// TestImpossibleConditionsAreRefused by the rules of the domain alone, each at its rule: before
// a row is drawn, and whether the model holds rules or not. What some row meets is not.
func TestImpossibleConditionsAreRefused(t *testing.T) {
	for _, c := range []struct {
		where map[string]domain.Choice
		rule  string // "": rows can meet it
	}{
		{map[string]domain.Choice{"ward": {"a"}, "dose": {"2"}}, "constraints[0], "},
		{map[string]domain.Choice{"flag": {"no"}, "dose": {"0.9..1.1"}}, "constraints[1], "},
		{map[string]domain.Choice{"ward": {"a"}, "dose": {"1", "2"}, "flag": {"no"}}, "constraints[0], "}, // each rule alone leaves a dose
		{map[string]domain.Choice{"ward": {"a", "b"}, "dose": {"2"}}, ""},
		{map[string]domain.Choice{"ward": {"a"}, "dose": {"1..2"}, "flag": {"no"}}, ""},
		{map[string]domain.Choice{"ward": {"missing"}, "dose": {"2"}}, ""},
	} {
		for _, ruled := range []bool{false, true} {
			h := given().Header()
			h.Ruled = ruled
			_, err := (&Stage{Categorical: "sample", Where: c.where}).conditions(h)
			if ps := (schema.Problems)(nil); c.rule == "" && err != nil || c.rule != "" && (!errors.As(err, &ps) || ps[0].Path != "where" || !strings.Contains(ps[0].Found, c.rule)) {
				t.Errorf("%v: %v, must be of %q", c.where, err, c.rule)
			}
		}
	}
	m := given()
	if _, err := (&Stage{Categorical: "sample", Where: map[string]domain.Choice{"ward": {"a"}, "dose": {"2"}}}).Draw(m, 5, pipeline.Released, seeded, func(_, _ int64) {}); err == nil || *m.given > 0 {
		t.Errorf("%v after %d rows, must be refused before any", err, *m.given)
	}
}

// TestRulesAreOfModelsThatHoldThem: the domain of a table has them, planned and drawn, only
// where every row keeps them.
func TestRulesAreOfModelsThatHoldThem(t *testing.T) {
	table, err := (&Stage{Categorical: "sample"}).Draw(given(), 5, pipeline.Released, seeded, func(_, _ int64) {})
	must(t, err)
	if len(table.Domain.Constraints) > 0 {
		t.Errorf("a model that holds no rules has a table with %v", table.Domain.Constraints)
	}
	for _, ruled := range []bool{false, true} {
		model := given().Header()
		model.Ruled = ruled
		rows := int64(5)
		h, err := (&Stage{Categorical: "sample", Rows: &rows}).header(model, pipeline.Released)
		must(t, err)
		if (len(h.Domain.Constraints) == 2) != ruled || h.Ruled {
			t.Errorf("a model, ruled: %v, is planned with a table of the rules %v", ruled, h.Domain.Constraints)
		}
	}
	if m := given(); len(m.Header().Domain.Constraints) != 2 {
		t.Error("the domain of the model lost its rules")
	}
}
