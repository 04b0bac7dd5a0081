package spec

import (
	"strings"
	"testing"
)

// TestBoundsOfDatesCanBeSpelled: 9999-12-31 is day 2932896, and no file spells the next.
func TestBoundsOfDatesCanBeSpelled(t *testing.T) {
	for bounds, says := range map[string]string{"[-719528, 2932896]": "", "[0, 2932897]": "the years 0 to 9999", "[-719529, 0]": "the years 0 to 9999"} {
		_, err := ParseDomain("domain.yaml", []byte("columns:\n  - {name: day, type: date, bounds: "+bounds+"}\n"))
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, must say %q", bounds, err, says)
		}
	}
}
