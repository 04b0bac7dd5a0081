package evaluate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/stages/internal/features"
	"weir/stages/internal/learn"
)

// Only cancelling ends an evaluation; whatever else a learner fails of is a note.
func TestDeclined(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""}, {fmt.Errorf("fold 2: %w", context.Canceled), ""}, {context.DeadlineExceeded, ""},
		{fmt.Errorf("fold 2: %w", &learn.NotEstimable{Column: -1, Reason: "too few rows"}), "too few rows"},
		{errors.New("linesearch: no progress"), "the learner failed: linesearch: no progress"},
	} {
		if got := declined(c.err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}

// What tables hold as different things cannot be compared, and that is known
// before anything is paid for.
func TestPlansRefuseWhatCannotBeCompared(t *testing.T) {
	real, other := rows(3, 1).Header, rows(3, 1).Header
	other.Domain = other.Domain.Clone()
	for i, change := range []func(*pipeline.Column){
		func(c *pipeline.Column) { *c = pipeline.Column{Name: "outcome", Type: pipeline.Integer} },
		func(c *pipeline.Column) { c.Type = pipeline.Text },
		func(c *pipeline.Column) {
			c.Type, c.Encoding = pipeline.Boolean, &pipeline.Encoding{Form: pipeline.MinMax, Width: 1}
		},
	} {
		change(&other.Domain.Columns[2])
		in := pipeline.Headers{"real": real, "synthetic": other}
		fit := &RegressionDiscovery{Model: "linear", Target: "level", Columns: []string{"outcome"}, Scaling: string(features.Raw), Level: 0.95}
		for _, s := range []pipeline.Stage{downstream("outcome"), fit} {
			if _, err := s.Plan(in); err == nil || !strings.Contains(err.Error(), "synthetic") {
				t.Errorf("change %d, %T: %v, must name the table", i, s, err)
			}
		}
	}
}
