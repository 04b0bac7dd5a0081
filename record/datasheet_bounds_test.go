package record

import (
	"strings"
	"testing"
)

// TestBoundsAreReadable: whole bounds are written out, whatever they are bounds of.
func TestBoundsAreReadable(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{{-9000, 1341000, "-9000 to 1341000"}, {16.3, 52864.7, "16.3 to 52864.7"}, {0, 1e18, "0 to 1e+18"}} {
		if got := (Column{Type: "integer", Bounds: &[2]float64{c.low, c.high}}).values(); got != c.want {
			t.Errorf("%q, must be %q", got, c.want)
		}
	}
}

// TestCategoriesAreToldApart: a category with a comma stands in quotes, in a long list too.
func TestCategoriesAreToldApart(t *testing.T) {
	few := Column{Type: "categorical", Categories: []string{"none", "one, or two", " blank", `"`}}
	if got, want := few.values(), `none, "one, or two", " blank", "\""`; got != want {
		t.Errorf("%s, must be %s", got, want)
	}
	many := Column{Type: "categorical", Categories: []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "x, y",
		"z"}}
	if got, want := many.values(), `a, b, c, d, e, f, g, h, i, j, k, "x, y" and 1 more`; got != want {
		t.Errorf("%s, must be %s", got, want)
	}
}

// TestFormatsAreSaid: how text files spell a column, a bar in the format among it, stands beside its type.
func TestFormatsAreSaid(t *testing.T) {
	text := Table{Stage: "s", Columns: []Column{{Name: "a", Type: "date", Format: "DD|MM|YYYY", Bounds: &[2]float64{0, 1}},
		{Name: "b", Type: "datetime", Zone: "UTC"}, {Name: "c", Type: "integer"}}}.describe()
	for _, row := range []string{"| a | date, as DD\\|MM\\|YYYY in text files | 1970-01-01 to 1970-01-02 |",
		"| b | datetime in UTC |", "| c | integer |"} {
		if !strings.Contains(text, row) {
			t.Errorf("lacks %q:\n%s", row, text)
		}
	}
}
