// Package audit is the table of audit rules: what goes wrong in tools for
// private synthetic data, what a spec should do instead, and what holds it here.
package audit

import "fmt"

// Rule is one entry: an id, a level (error, warning, note), what is found, what
// a spec should do instead, where to read on, what holds it, and the tests that
// show that it holds.
type Rule struct {
	ID        string   `json:"id"`
	Level     string   `json:"level"`
	Finding   string   `json:"finding"`
	Instead   string   `json:"instead"`
	Reference string   `json:"reference"`
	Held      Holder   `json:"held"`
	Tests     []string `json:"tests,omitempty"` // names of Go tests
}

// Holder says what keeps a rule.
type Holder string

const (
	Checked Holder = "by weir check, plan and run, which report it"
	AtRun   Holder = "by weir run, which reports it once it has read the data"
	Built   Holder = "by design: no spec can ask for it, and a kind that does it fails its tests"
)

// Find returns the rule with an id.
func Find(id string) (Rule, error) {
	all := Rules()
	for _, r := range all {
		if r.ID == id {
			return r, nil
		}
	}
	return Rule{}, fmt.Errorf("%q is not an audit rule, must be one of %s to %s", id, all[0].ID, all[len(all)-1].ID)
}
