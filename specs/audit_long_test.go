//go:build long

package specs_test

import (
	"testing"

	"weir/specs"
)

// TestEverySpecIsSound audits every embedded spec, shrunken, on rows of nobody.
func TestEverySpecIsSound(t *testing.T) {
	for _, name := range specs.Names() {
		t.Run(name, func(t *testing.T) { sound(t, name, 8) })
	}
}
