package learn

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestDeclined: only cancelling ends an evaluation; whatever else a learner fails of is a note.
func TestDeclined(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""}, {fmt.Errorf("fold 2: %w", context.Canceled), ""}, {context.DeadlineExceeded, ""},
		{fmt.Errorf("fold 2: %w", &NotEstimable{Column: -1, Reason: "too few rows"}), "too few rows"},
		{errors.New("linesearch: no progress"), "the learner failed: linesearch: no progress"},
	} {
		if got := Declined(c.err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
