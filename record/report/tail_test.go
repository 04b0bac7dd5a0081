package report

import (
	"math"
	"regexp"
	"strings"
	"testing"
)

// TestAsinh against the standard library, and its inverse, to a few units of the last place.
func TestAsinh(t *testing.T) {
	for _, x := range []float64{0, 1e-300, 1e-9, 0.1, 1, 7.5, 1e5, 1e20, 1e200} {
		for _, v := range []float64{x, -x} {
			if got, want := Asinh(v), math.Asinh(v); math.Abs(got-want) > 4e-16*math.Abs(want) {
				t.Errorf("asinh %g is %g, must be %g", v, got, want)
			}
			if back := Sinh(Asinh(v)); math.Abs(back-v) > 1e-12*math.Abs(v) {
				t.Errorf("sinh of asinh %g is %g", v, back)
			}
		}
	}
}

// tailed returns a column with a long tail and most rows at 0.
func tailed() Column {
	return Column{Name: "gain", Type: "integer", TotalVariation: 0.1, Edges: []float64{99.5, 1000.5, 99999.5},
		Real: []float64{0.06, 0.02}, Synthetic: []float64{0.05, 0.02},
		Spike: &Spike{0, 0.92, 0.93}, Linear: 700, Distribution: &Distribution{[]float64{0, 1000, 99999},
			[]float64{0.92, 0.98, 1}, []float64{0.93, 0.98, 1}}}
}

func TestTailIsDrawn(t *testing.T) {
	c := tailed()
	p := columnPicture(Handler(), c)
	svg, err := p.Inline()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">10k<", ">share up to here<", ">share of rows<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the drawing lacks %s", want)
		}
	}
	for _, want := range []string{"Bars leave out 0: real 92 %, synthetic 93 %.", "logarithmic beyond 700."} {
		if !strings.Contains(p.caption, want) {
			t.Errorf("the caption %q lacks %q", p.caption, want)
		}
	}
	lo, hi := c.ends()
	if lo != 0 || hi != Asinh(99999.5/700) {
		t.Errorf("the axis runs from %g to %g", lo, hi)
	}
}

// TestTailTicks: zero and powers of ten, on both sides, none upon another.
func TestTailTicks(t *testing.T) {
	c := Column{Linear: 10}
	var got []string
	ticks := tailTicks{c}.Ticks(c.place(-1000), c.place(100000))
	for _, tick := range ticks {
		got = append(got, tick.Label)
	}
	if text := strings.Join(got, " "); text != "0 100k 10k 1000 -1000 100 -100" {
		t.Errorf("ticks %s", text)
	}
}

// TestStackedAxesAgree: a mark stands at the same place of the axis below the bins and below the distribution function,
// whose numbers at the side are not as wide.
func TestStackedAxesAgree(t *testing.T) {
	c := Column{Name: "gain", Type: "numeric", Linear: 4, Edges: []float64{-1000, -10, 10, 1000},
		Real:      []float64{0.0125, 0.5, 0.4875},
		Synthetic: []float64{0.1, 0.5, 0.4},
		Distribution: &Distribution{At: []float64{-1000, 0, 1000}, Real: []float64{0, 0.5, 1}, Synthetic: []float64{0, 0.4,
			1}}}
	svg, err := columnPicture(Handler(), c).Inline()
	if err != nil {
		t.Fatal(err)
	}
	marks := regexp.MustCompile(`<text x="([^"]*)"[^>]*>-100</text>`).FindAllStringSubmatch(svg, -1)
	if len(marks) != 2 || marks[0][1] != marks[1][1] {
		t.Errorf("-100 stands at %v, must be twice at one place", marks)
	}
}
