package histogram

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"weir/internal/stattest"
)

// TestGoldenSimplex: every simplex_projection of graphical.json. The other kinds of its
// cases are judged where they are computed; a kind that nobody judges is red here.
func TestGoldenSimplex(t *testing.T) {
	var file struct {
		Cases []struct {
			ID, Kind         string
			Inputs, Expected json.RawMessage
			Tolerance        struct{ Abs float64 }
		}
	}
	stattest.LoadGolden(t, "graphical.json", &file)
	elsewhere := []string{"inference", "estimation" /* train/graphical */, "one_gaussian_event" /* privacy/mechanism */}
	seen := 0
	for _, c := range file.Cases {
		if c.Kind != "simplex_projection" {
			if !slices.Contains(elsewhere, c.Kind) {
				t.Errorf("%s: is of kind %q, which no test judges", c.ID, c.Kind)
			}
			continue
		}
		seen++
		var in struct {
			Y     []float64
			Total float64
		}
		var want struct{ X []float64 }
		if err := json.Unmarshal(c.Inputs, &in); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(c.Expected, &want); err != nil {
			t.Fatal(err)
		}
		for i, x := range Simplex(in.Y, in.Total) {
			if !(math.Abs(x-want.X[i]) <= c.Tolerance.Abs) {
				t.Errorf("%s: x[%d] is %g, must be %g", c.ID, i, x, want.X[i])
			}
		}
	}
	if seen == 0 {
		t.Error("no case was run")
	}
}
