package show

import (
	"strings"
	"testing"

	"weir/pipeline"
	"weir/privacy"
)

// TestPublishedNumberStandsWithItsMethod: the number of a stage is shown, also where the whole run has
// none because another stage has none.
func TestPublishedNumberStandsWithItsMethod(t *testing.T) {
	x := 1.5
	for want, s := range map[string]*pipeline.Step{
		"epsilon 1.5 of this stage (by hand)":  {Cost: privacy.Cost{PublishedMethod: "by hand", Published: &x}},
		"epsilon none of this stage (by hand)": {Cost: privacy.Cost{PublishedMethod: "by hand"}},
	} {
		var b strings.Builder
		if textEvents(&b, s); !strings.Contains(b.String(), want) {
			t.Errorf("%s, must say %s", b.String(), want)
		}
	}
}
