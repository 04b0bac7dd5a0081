package show

import (
	"slices"
	"testing"
)

// TestGapsAreByRule: reasons are told rule by rule, and a reason may hold semicolons.
func TestGapsAreByRule(t *testing.T) {
	got := gaps("W03: rows change; all of them; W36: one draw for a batch")
	if want := []string{"W03: rows change; all of them", "W36: one draw for a batch"}; !slices.Equal(got, want) {
		t.Errorf("got %q, must be %q", got, want)
	}
}
