package report

import (
	"strings"
	"testing"
)

// TestWithoutAProofThePageSaysSo: beside what may leave, and wherever a figure is read beside
// independent columns: a table without a proven epsilon is at no equal one.
func TestWithoutAProofThePageSaysSo(t *testing.T) {
	const same, caveat = "at the same epsilon", "No epsilon is proven for them."
	one := 1.0
	for claims, p := range map[string]Privacy{"proven": {Proven: &one, Claims: "proven"},
		"published": {Claims: "published"}} {
		r := Report{Privacy: p, Released: []Artifact{{Name: "train", Form: "model", Class: "released"}},
			Groups: []Group{{Stage: "s", Kind: "marginals", Declared: declared("marginals"),
				Figures: append(figuresOf("total_variation_2way", .2, "total_variation_2way_baseline", .1),
					Figure{Name: "other", Note: "of independent columns " + same})}}}
		page, err := r.page(drawings{})
		if err != nil {
			t.Fatal(err)
		}
		proven := claims == "proven"
		if text := string(page); strings.Contains(text, same) != proven || strings.Contains(text, caveat) == proven ||
			strings.Contains(text, "worse than independent columns at the epsilon of the spec") == proven {
			t.Errorf("claims %s: the page has %d times %q, the caveat: %v", claims, strings.Count(text, same), same,
				strings.Contains(text, caveat))
		}
	}
	r := Report{Privacy: Privacy{Claims: "published"}}
	if page, err := r.page(drawings{}); err != nil || strings.Contains(string(page), caveat) {
		t.Errorf("%v; a page on which nothing may leave has a caveat of it", err)
	}
}
