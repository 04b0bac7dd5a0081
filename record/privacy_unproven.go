package record

import "strings"

// unproven tells whether the release was made by mechanisms of which nothing is proven: then
// no document may speak of a bound.
func (r *Run) unproven() bool { return r.Terms.Proven == nil && r.Terms.Claims == "published" }

// statedReason returns why nothing is proven, where the head of PRIVACY.md says it.
func (r *Run) statedReason() string {
	if r.unproven() && !r.Insecure {
		return r.Terms.Reason
	}
	return ""
}

// unproven reports whether a finding is what was told of its stage.
func (p planned) unproven(f Finding, text string) bool {
	for _, s := range p.Stages {
		why := s.Unproven.String()
		if s.ID == f.Stage && f.Level == "warning" && why != "" && strings.Contains(text, why) &&
			strings.Contains(why, f.Rule+": ") {
			return true
		}
	}
	return false
}

// limits says what the release does not promise.
func limits(r *Run) string {
	bounds := "- It bounds what the release adds to anyone's knowledge of one unit; it does not hide facts about groups.\n"
	if r.unproven() {
		bounds = "- Nothing bounds what the release adds to anyone's knowledge of one unit. It may tell as much as the " +
			"private rows themselves.\n"
	}
	return bounds + `- It covers these files only. Metrics against real rows, logs and the run's internal folder are private.
- Bounds, categories and row counts that the domain declares public are taken as public knowledge.
`
}

// coincidence says what a row that is like a real one may tell.
func coincidence(r *Run) string {
	if r.unproven() {
		return "A row may coincide with a real one, and\nnothing bounds what that can reveal about a person.\n"
	}
	return "A row may coincide with a real one; what that can\nreveal about a person is within the bound of " +
		"`PRIVACY.md`.\n"
}

// ledgerTotal says what the charges are to the ledger of the dataset.
func ledgerTotal(r *Run) string {
	text := "\nThe ledger adds them to the charges of all other runs on the same data."
	if r.unproven() {
		text += " Where nothing is proven of a charge, no total of the\nledger is proven from there on, and no run with a " +
			"budget of the dataset is admitted."
	}
	return text + "\n"
}
