package source

import (
	"context"
	"errors"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/relation"
	"weir/runtime/database/postgres"
	"weir/runtime/database/sql"
)

// TestWhatIsSigned: of a view, and of row security, a spec has to say that a row follows from one unit.
func TestWhatIsSigned(t *testing.T) {
	if unsigned(postgres.Table{}) != nil || unsigned(postgres.Table{View: true}) == nil ||
		unsigned(postgres.Table{Policed: true}) == nil {
		t.Error("a table is a view, or a view is none")
	}
}

// TestSettingsAreNamedWhole: what says that rows stay names the setting as a spec has it, from its top.
func TestSettingsAreNamedWhole(t *testing.T) {
	for _, err := range []error{errStay, errStays} {
		if !strings.Contains(err.Error(), "(dataset.database.rows: stay)") {
			t.Errorf("%v, must name dataset.database.rows", err)
		}
	}
}

// turning is a counter whose rows have these contents, one after the other, the last of them from then on.
type turning struct {
	counter
	contents []string
}

func (c *turning) Content(context.Context) (content string, faults []sql.Fault, err error) {
	content = c.contents[0]
	if len(c.contents) > 1 {
		c.contents = c.contents[1:]
	}
	return content, nil, nil
}

func (c *turning) Keep(context.Context, relation.Relation) (relation.Kept, error) { return nil, nil }

// TestViewsAreLookedAtAgain: other rows of a view end what is asked of it, when its content is asked for and behind all
// that is kept, which is before a charge. A table is looked at once.
func TestViewsAreLookedAtAgain(t *testing.T) {
	for _, c := range []struct {
		contents      []string
		content, keep bool // whether it is refused
	}{{[]string{"a"}, false, false}, {[]string{"a", "b"}, true, true}, {[]string{"a", "a", "b"}, false, true}} {
		v := counterOf(&turning{contents: c.contents}, true)
		if _, _, err := v.Content(t.Context()); errors.Is(err, errDiffers) != c.content ||
			errors.Is(err, pipeline.ErrChanged) != c.content {
			t.Errorf("content of %v: %v", c.contents, err)
		}
		if _, err := v.Keep(t.Context(), relation.Relation{}); errors.Is(err, errDiffers) != c.keep {
			t.Errorf("rows of %v are kept: %v", c.contents, err)
		}
	}
	table := counterOf(&turning{contents: []string{"a", "b"}}, false)
	if _, _, err := table.Content(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := table.Keep(t.Context(), relation.Relation{}); err != nil {
		t.Error(err)
	}
}
