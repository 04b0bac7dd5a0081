package spec

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"weir/internal/plaintext"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
)

// rules checks the rules of a spec that a JSON Schema cannot say.
func (p *parser) rules(s *Spec) {
	p.nameRule(s.Name)
	p.datasetRules(&s.Dataset)
	p.budgetRules(&s.Privacy)
	p.splitRules(s)
	p.experimentRules(s.Experiment)
	if p.wrong(acknowledgePath) {
		p.askReasons()
		return
	}
	p.acknowledged(s.Privacy.Acknowledge)
}

// acknowledgePath is where a spec accepts warnings.
const acknowledgePath = "privacy.acknowledge"

// askReasons shows how a spec accepts warnings, where it does so in another form, such as a list of rules.
func (p *parser) askReasons() {
	for i := range p.problems {
		if problem := &p.problems[i]; schema.Within(problem.Path, acknowledgePath) && problem.Hint == "" {
			problem.Hint = "give each rule the reason why it is accepted, such as {W33: the paper has this epsilon}"
		}
	}
}

// nameRule: in the folder of runs weir has folders of its own besides the folders of specs, and in
// one of them private rows.
func (p *parser) nameRule(name string) {
	if own := []string{"cache", "datasets", "ledgers", "owners"}; slices.Contains(own, strings.ToLower(name)) {
		p.problemAt("name", fmt.Sprintf("%q", name), "another name than those of weir's own folders in the folder of runs ("+
			strings.Join(own, ", ")+")", "")
	}
}

// leastReason is how many words a reason has at least: fewer, such as "ok", are none.
const leastReason = 3

// acknowledged refuses to accept what is not a warning, and to accept one without a reason.
func (p *parser) acknowledged(reasons map[string]string) {
	for _, id := range slices.Sorted(maps.Keys(reasons)) {
		path, reason := acknowledgePath+"."+schema.Path(id), reasons[id]
		rule, err := FindRule(id)
		switch {
		case err != nil:
			p.problemAt(path, "not an audit rule", "one that weir explain lists as a warning, such as W33", "")
		case !rule.Acknowledgeable():
			p.problemAt(path, "a rule of level "+rule.Level,
				"one that is a warning: "+strings.Join(acknowledgeable(), ", "), "")
		}
		if len(strings.Fields(reason)) < leastReason || !plaintext.Printable(reason) {
			p.problemAt(path, "", fmt.Sprintf("a reason of %d words or more, in one line of %s: it is printed in PRIVACY.md",
				leastReason, plaintext.Accepted), "")
		}
	}
}

func (p *parser) datasetRules(d *Dataset) {
	p.totals(d)
	if unit := d.PrivacyUnit.Column; unit != "" && d.Columns() != nil && !p.wrong("dataset.privacy_unit") {
		p.unitRule(unit, d.Columns())
	}
}

// unitRule refuses a column that is not there, and one of floats: beyond 2^53 two names are
// one number, so that a unit that comes or goes would push out the rows of another.
func (p *parser) unitRule(unit string, d *domain.Domain) {
	const path = "dataset.privacy_unit.column"
	switch c := d.Column(unit); {
	case c == nil:
		p.problemAt(path, "", "a column of the domain: "+strings.Join(d.Names(), ", "), schema.DidYouMean(unit, d.Names()))
	case c.Type == domain.Numeric:
		p.problemAt(path, fmt.Sprintf("%q, which is numeric", unit),
			fmt.Sprintf("a column that tells units apart exactly: declare %s with type: integer, or with type: text (without "+
				"bounds and step) where names are not whole numbers", unit), "")
	}
}

func (p *parser) budgetRules(t *Privacy) {
	if p.wrong("privacy.epsilon", "privacy.delta", "privacy.claims", "privacy.accountant") {
		return
	}
	switch {
	case t.Epsilon.Infinite() && t.Claims != pipeline.ClaimsNone:
		p.problemAt("privacy.epsilon", "", "finite, or inf together with claims: none", "")
	case !t.Epsilon.Infinite() && t.Claims == pipeline.ClaimsNone:
		p.problemAt("privacy.claims", "", "proven or published where epsilon is finite; none goes with epsilon: inf", "")
	case !t.Epsilon.Infinite() && t.Delta == 0 && t.Accountant != "basic":
		p.problemAt("privacy.delta", "0", "above 0 and below one over the number of rows, unless accountant is basic", "")
	}
}

func (p *parser) splitRules(s *Spec) {
	split := s.Privacy.Split
	if len(split) == 0 || p.wrong("privacy.split") {
		return
	}
	sum := 0.0
	ids := make([]string, len(s.Stages))
	for i := range s.Stages {
		ids[i] = s.Stages[i].ID
	}
	for _, id := range slices.Sorted(maps.Keys(split)) {
		share := split[id]
		sum += share
		path := "privacy.split." + id
		if !slices.Contains(ids, id) {
			p.problemAt(path, fmt.Sprintf("the share of %q", id), "the name of a stage: "+strings.Join(ids, ", "),
				schema.DidYouMean(id, ids))
		}
		if !(share > 0 && share <= 1) {
			p.problemAt(path, "", "above 0 and at most 1", "")
		}
	}
	// 1e-9 forgives decimal shares such as 0.1 + 0.2 + 0.7.
	if math.Abs(sum-1) > 1e-9 {
		p.problemAt("privacy.split", fmt.Sprintf("shares that sum to %.10g (W19)", sum), "shares that sum to 1", "")
	}
}
