package compile

import (
	"fmt"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/spec"
)

// mostNamed rules are written out in a note.
const mostNamed = 3

// unruled notes that rows drawn from a model may break rules that the domain declares (W41).
// Whether a model holds them its header says (pipeline.Header.Ruled).
func (c *compiler) unruled(s *spec.Stage, out pipeline.Headers) {
	for _, h := range out {
		if h.Form != pipeline.FormModel || h.Ruled || h.Domain == nil {
			continue
		}
		if rules := declared(h.Domain); len(rules) > 0 {
			c.plan.Findings = append(c.plan.Findings, pipeline.Finding{Rule: "W41", Level: pipeline.LevelNote, Stage: s.ID,
				Message: fmt.Sprintf("a model of kind %s does not hold the rules of the domain: rows drawn from it may break %s, "+
					"and the domain of the release leaves the rules out", s.Kind.Name, someOf(rules)),
				Fix: "a model of marginals (such as marginal_tree), which holds every rule in every row; a stage of kind " +
					"constraints counts the rows that break one"})
		}
	}
}

// declared words the rules about the columns of a table, as they stood before the first step
// that sampling undoes.
func declared(d *domain.Domain) (list []string) {
	first := d
	if len(d.History) > 0 && d.History[0].Before != nil {
		first = d.History[0].Before
	}
	rules, _ := domain.ReadRules(first)
	for _, r := range rules {
		if !slices.ContainsFunc(r.Columns, func(at int) bool { return d.Column(first.Columns[at].Name) == nil }) {
			list = append(list, r.Label)
		}
	}
	return list
}

func someOf(rules []string) string {
	if n := len(rules) - mostNamed; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(rules[:mostNamed], ", "), n)
	}
	return strings.Join(rules, ", ")
}
