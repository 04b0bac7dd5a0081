package graphical

import (
	"testing"

	"weir/pipeline"
	"weir/privacy"
)

// TestPublicRows: the number of rows is public in one case; whatever of it is missing, a
// stage may use no count but what it releases (docs/marginals.md section 2, n).
func TestPublicRows(t *testing.T) {
	base := table([]int{2}, []int{0, 1, 1}).Header
	for what, c := range map[string]struct {
		change func(h *pipeline.Header)
		want   float64
	}{
		"public":                  {func(*pipeline.Header) {}, 3},
		"add_remove":              {func(h *pipeline.Header) { h.Terms.Adjacency = privacy.AddRemove }, 0},
		"a person as unit":        {func(h *pipeline.Header) { h.Terms.Unit.Column = "person" }, 0},
		"two rows a unit":         {func(h *pipeline.Header) { h.Stability = pipeline.Rows(2) }, 0},
		"shards":                  {func(h *pipeline.Header) { h.Stability = pipeline.Shards(1) }, 0},
		"rows of others move":     {func(h *pipeline.Header) { h.OwnRows = false }, 0},
		"rows dropped by a value": {func(h *pipeline.Header) { h.Rows = 0 }, 0},
		"none":                    {func(h *pipeline.Header) { h.Rows = -1 }, 0},
	} {
		h := base
		if c.change(&h); publicRows(h) != c.want {
			t.Errorf("%s: %g, must be %g", what, publicRows(h), c.want)
		}
	}
}
