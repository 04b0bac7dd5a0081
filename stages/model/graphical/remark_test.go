package graphical

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// TestWideBoundsAreSaid: visits of at most some twenty between bounds of 0 and 60 or 5,000 stand on their noise in less
// than a quarter of the line; ages that fill their bounds, and bounds as wide as the visits are, get no remark.
func TestWideBoundsAreSaid(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, c := range []struct {
		greatest float64
		says     string
	}{{5000, "visits (declared 0 to 5000, rows stand out from noise within [0, "}, {60, "visits (declared 0 to 60, rows stand out from noise within [0, "}, {6, ""}} {
		d := &domain.Domain{Columns: []domain.Column{{Name: "visits", Type: domain.Integer, Bounds: &[2]float64{0, c.greatest}},
			{Name: "age", Type: domain.Integer, Bounds: &[2]float64{20, 79}}}}
		values := make([][]any, 2)
		for range 5000 {
			values[0] = append(values[0], int(min(c.greatest, math.Floor(2*rng.ExpFloat64()))))
			values[1] = append(values[1], 20+rng.IntN(60))
		}
		in := pipelinetest.Input{Header: header(d, 5000), Rows: pipelinetest.Rows(d, values...)}
		model, _ := attempt{stage: independentKind().New(), in: in, multiplier: 15}.run(t)
		text, err := remarked(t.Context(), pipeline.Tables{"model": model})
		must(t, err)
		if (text == "") != (c.says == "") || !strings.Contains(text, c.says) || strings.Contains(text, "age") {
			t.Errorf("bounds to %g: %q, must say %q", c.greatest, text, c.says)
		}
	}
}

// TestWideBoundsOfDatesAreSaidAsDates: dates of one year between bounds of a century, as a person declares them.
func TestWideBoundsOfDatesAreSaidAsDates(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	d := &domain.Domain{Columns: []domain.Column{{Name: "seen", Type: domain.Date, Bounds: &[2]float64{0, 36524}}, {Name: "age", Type: domain.Integer, Bounds: &[2]float64{20, 79}}}}
	values := make([][]any, 2)
	for range 5000 {
		values[0] = append(values[0], 18262+rng.IntN(366))
		values[1] = append(values[1], 20+rng.IntN(60))
	}
	in := pipelinetest.Input{Header: header(d, 5000), Rows: pipelinetest.Rows(d, values...)}
	model, _ := attempt{stage: independentKind().New(), in: in, multiplier: 15}.run(t)
	text, err := remarked(t.Context(), pipeline.Tables{"model": model})
	must(t, err)
	if !strings.Contains(text, "seen (declared 1970-01-01 to 2069-12-31, rows stand out from noise within [20") {
		t.Errorf("the remark is %q", text)
	}
}
