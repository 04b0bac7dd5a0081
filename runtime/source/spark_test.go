package source

import (
	"errors"
	"testing"

	"weir/pipeline"
	"weir/pipeline/relation"
)

// TestTablesWithoutVersionAreLookedAtBehind: the content of such a table is asked for once, and again behind what is
// kept of it; other content then ends the run, before a charge.
func TestTablesWithoutVersionAreLookedAtBehind(t *testing.T) {
	for _, c := range []struct {
		contents []string
		refused  bool
	}{{[]string{"a"}, false}, {[]string{"a", "b"}, true}} {
		u := &unpinned{viewed{counter: &turning{contents: c.contents}}}
		if content, _, err := u.Content(t.Context()); content != "a" || err != nil {
			t.Errorf("content of %v: %q, %v", c.contents, content, err)
		}
		if _, err := u.Keep(t.Context(), relation.Relation{}); errors.Is(err, pipeline.ErrChanged) != c.refused {
			t.Errorf("rows of %v are kept: %v", c.contents, err)
		}
	}
}
