package record

import "testing"

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
	many := Column{Type: "categorical", Categories: []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "x, y", "z"}}
	if got, want := many.values(), `a, b, c, d, e, f, g, h, i, j, k, "x, y" and 1 more`; got != want {
		t.Errorf("%s, must be %s", got, want)
	}
}
