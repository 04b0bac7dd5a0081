// Package audit is the table of audit rules: what goes wrong in tools for
// private synthetic data, and what a spec should do instead.
package audit

import "fmt"

// Rule is one entry: an id, a level (error, warning, note), what is found, what
// a spec should do instead, and where to read on.
type Rule struct {
	ID        string `json:"id"`
	Level     string `json:"level"`
	Finding   string `json:"finding"`
	Instead   string `json:"instead"`
	Reference string `json:"reference"`
}

// Find returns the rule with an id.
func Find(id string) (Rule, error) {
	all := Rules()
	for _, r := range all {
		if r.ID == id {
			return r, nil
		}
	}
	return Rule{}, fmt.Errorf("%q is no audit rule, must be one of %s to %s", id, all[0].ID, all[len(all)-1].ID)
}
