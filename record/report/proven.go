package report

import "strings"

// Unproven tells whether what is released was made by mechanisms of which nothing is proven:
// then nothing on the page may pass for a bound.
func (p Privacy) Unproven() bool { return p.Proven == nil && p.Claims == "published" }

// withoutBaseline returns a text about independent columns at the same epsilon. Where no epsilon is proven
// the epsilon of the baseline is the one of the spec, and the table has none to be equal to it.
func (p Privacy) withoutBaseline(text string) string {
	if !p.Unproven() {
		return text
	}
	return strings.ReplaceAll(text, "at the same epsilon", "at the epsilon of the spec (the table has no proven one)")
}
