package questiontest

import (
	"strings"
	"testing"

	"weir/pipeline"
)

// Incomparable plans a stage of Mixed tables that uses outcome where the synthetic
// one holds it as something else: what cannot be compared is known before anything
// is paid for.
func Incomparable(t *testing.T, s pipeline.Stage) {
	t.Helper()
	real, other := Rows(3, 1).Header, Rows(3, 1).Header
	other.Domain = other.Domain.Clone()
	for i, change := range []func(*pipeline.Column){
		func(c *pipeline.Column) { *c = pipeline.Column{Name: "outcome", Type: pipeline.Integer} },
		func(c *pipeline.Column) { c.Type = pipeline.Text },
		func(c *pipeline.Column) {
			c.Type, c.Encoding = pipeline.Boolean, &pipeline.Encoding{Form: pipeline.MinMax, Width: 1}
		},
	} {
		change(&other.Domain.Columns[2])
		if _, err := s.Plan(pipeline.Headers{"real": real, "synthetic": other}); err == nil || !strings.Contains(err.Error(), "synthetic") {
			t.Errorf("change %d, %T: %v, must name the table", i, s, err)
		}
	}
}
