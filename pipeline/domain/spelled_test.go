package domain

import (
	"slices"
	"testing"
)

// TestApart: a spelling of missing that a value may have is none in what is written.
func TestApart(t *testing.T) {
	bounds, all := &[2]float64{0, 10}, []string{"NA", "0", "10.0", "-9", "1e1", "1970-01-05", ""}
	for _, c := range []struct {
		column Column
		want   []string
	}{
		{Column{Type: Integer, Bounds: bounds}, []string{"NA", "-9", "1970-01-05", ""}},
		{Column{Type: Numeric}, []string{"NA", "1970-01-05", ""}},
		{Column{Type: Date, Bounds: bounds}, []string{"NA", "0", "10.0", "-9", "1e1", ""}},
		{Column{Type: Date, Bounds: bounds, Encoding: &Encoding{Form: MinMax}}, []string{"NA", "1970-01-05", ""}},
		{Column{Type: Ordinal, Categories: []string{"1"}}, all},
		{Column{Type: Text}, all},
	} {
		if got := c.column.Apart(all); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, must be %q", c.column.Type, got, c.want)
		}
	}
}
