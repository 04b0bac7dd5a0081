package domain

import (
	"strings"
	"testing"
)

// TestAliasesMeanOneCategory: an alias of no category, one that means two things, and one of numbers are problems.
func TestAliasesMeanOneCategory(t *testing.T) {
	for want, c := range map[string]Column{
		"":                       {Name: "a", Type: Categorical, Categories: []string{"no", "yes"}, Aliases: Aliases{"yes": {"Yes", "y"}}},
		"which is no category":   {Name: "a", Type: Categorical, Categories: []string{"no", "yes"}, Aliases: Aliases{"maybe": {"Yes"}}},
		"one category alone":     {Name: "a", Type: Categorical, Categories: []string{"no", "yes"}, Aliases: Aliases{"yes": {"no"}}},
		"listed twice":           {Name: "a", Type: Categorical, Categories: []string{"no", "yes"}, Aliases: Aliases{"yes": {"y"}, "no": {"y"}}},
		"a spelling of missing":  {Name: "a", Type: Categorical, Categories: []string{"no", "yes"}, Missing: []string{"?"}, Aliases: Aliases{"yes": {"?"}}},
		"given for type numeric": {Name: "a", Type: Numeric, Aliases: Aliases{"1": {"one"}}},
	} {
		ps := Check(&Domain{Columns: []Column{c}}, Declared)
		if want == "" && len(ps) > 0 || want != "" && (len(ps) != 1 || !strings.Contains(ps.Error(), want)) {
			t.Errorf("%+v: %v, must hold %q", c, ps, want)
		}
	}
}
