package sample

import (
	"fmt"
	"strings"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
)

// promised is the header of rows of a domain without the rules that the model does not hold:
// whoever reads the domain of a table takes its rules for granted. h says whether it does.
func promised(h pipeline.Header, d *domain.Domain) pipeline.Header {
	if !h.Ruled && len(d.Constraints) > 0 {
		d = d.Clone()
		d.Constraints = nil
	}
	h.Ruled = false // of a table the rules in its domain say all
	return pipeline.TableHeader(d, h)
}

// mostSteps bounds the search for a row that meets the conditions: what is not found out in
// so many steps is left to drawing.
const mostSteps = 1 << 16

// possible adds a problem where no row meets the conditions, by the rules that the domain
// declares, whether the model holds them or not. Rules are public, so nothing is looked at
// beside them.
func (s *Stage) possible(d *domain.Domain, by map[int]domain.Values, ps *schema.Problems) {
	rules, _ := domain.ReadRules(d)
	all := make([]*domain.Rule, 0, len(rules))
	for i := range rules {
		all = append(all, &rules[i])
	}
	for _, group := range domain.Components(all) {
		if len(*ps) > 0 {
			return
		}
		if broken := never(d, group.Rules, by); len(broken) > 0 {
			ps.Add("where", fmt.Sprintf("{%s}, which no row has by the rules of the domain: %s", domain.SayWhere(s.Where), strings.Join(broken, "; ")), "values that the rules leave possible together")
		}
	}
}

// never names rules that no row with the values keeps: one of them where one is enough, else
// all of them together; none where there is such a row, or where it takes too long to know.
func never(d *domain.Domain, rules []*domain.Rule, by map[int]domain.Values) (broken []string) {
	if _, found, _ := domain.FindRow(d, rules, by, mostSteps); found != domain.NoRow {
		return nil
	}
	for _, r := range rules {
		if _, found, _ := domain.FindRow(d, []*domain.Rule{r}, by, mostSteps); found == domain.NoRow {
			return []string{named(r)}
		}
		broken = append(broken, named(r))
	}
	return broken
}

func named(r *domain.Rule) string { return fmt.Sprintf("constraints[%d], %s", r.Place, r.Label) }
