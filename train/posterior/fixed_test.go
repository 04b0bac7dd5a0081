package posterior

import (
	"math"
	"math/rand/v2"
	"testing"

	"weir/internal/stattest"
)

// mixed is a mixture of every family, of two components, and its parameters.
func mixed() (Mixture, []float32) {
	return Mixture{Components: 2, Columns: []Column{{Family: Bernoulli}, {Family: Categorical, Categories: 3}, {Family: Beta}, {Family: Normal}, {Family: Poisson}}},
		[]float32{0.5, // weight
			-1, 0.5, 1, 0.7, 1.2, -0.2, -1, 0.3,
			1.5, -1, 0, 0.2, -0.5, 0.4, -0.7, 1.1}
}

// quarters are the spans of mixed: a code, a quarter of the unit interval, a side of 0, and
// 0, 1 or more.
func quarters() [][]Span {
	far := math.Inf(1)
	return [][]Span{{{Lo: 0}, {Lo: 1}}, {{Lo: 0}, {Lo: 1}, {Lo: 2}}, {{Lo: 0, Hi: 0.25}, {Lo: 0.25, Hi: 0.5}, {Lo: 0.5, Hi: 0.75}, {Lo: 0.75, Hi: far}},
		{{Lo: -far, Hi: 0}, {Lo: 0, Hi: far}}, {{Lo: 0, Hi: 1}, {Lo: 1, Hi: 2}, {Lo: 2, Hi: far}}}
}

// all lists every row of spans, the last column counted up first.
func all(columns [][]Span) (rows [][]Span) {
	if len(columns) == 0 {
		return [][]Span{nil}
	}
	for _, s := range columns[0] {
		for _, rest := range all(columns[1:]) {
			rows = append(rows, append([]Span{s}, rest...))
		}
	}
	return rows
}

// TestFixedIsTheLawOfDrawnRows: over all spans chances sum to 1, and rows that are drawn with these
// parameters (a law without a width) come as often as they say: chi-square over 144 cells at 1e-6.
// The chances of the components exchanged in one column are rejected.
func TestFixedIsTheLawOfDrawnRows(t *testing.T) {
	m, theta := mixed()
	f, sum := m.At(theta), 0.0
	rows := all(quarters())
	chances := make([]float64, len(rows))
	for i, r := range rows {
		chances[i] = math.Exp(f.LogProb(r))
		sum += chances[i]
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("all rows have the chance %.15g, must have 1", sum)
	}
	narrow := make([]float32, len(theta))
	for i := range narrow {
		narrow[i] = -30
	}
	p := Predictive{Mixture: m, Mean: theta, LogDeviation: narrow, Prior: Uniform()}
	const n = 60000
	seen, to, r := make([]int, len(rows)), make([]float64, len(m.Columns)), rand.New(rand.NewPCG(3, 3))
	for range n {
		p.Draw(to, r)
		at := 0
		for j, spans := range quarters() {
			in := 0
			for i, s := range spans {
				if to[j] >= s.Lo {
					in = i
				}
			}
			at = at*len(spans) + in
		}
		seen[at]++
	}
	if p := stattest.ChiSquare(seen, chances, n); p < 1e-6 {
		t.Errorf("drawn rows have not these chances: p %g", p)
	}
	wrong := append([]float32(nil), theta...)
	wrong[1], wrong[9] = wrong[9], wrong[1]
	for i, r := range rows {
		chances[i] = math.Exp(m.At(wrong).LogProb(r))
	}
	if p := stattest.ChiSquare(seen, chances, n); p >= 1e-6 {
		t.Errorf("chances of other parameters pass: p %g", p)
	}
}

// TestFixedAtTheEdges: no parameters that a released law may have, and no span, give NaN or a
// chance above 1; a value nowhere near has one below e^-100, and a column that is
// anywhere has no part.
func TestFixedAtTheEdges(t *testing.T) {
	m, theta := mixed()
	for _, size := range []float32{-21, -3, 0, 3, 21} {
		for i := range theta {
			theta[i] = size
		}
		for _, r := range all(quarters()) {
			if log := m.At(theta).LogProb(r); !(log <= 0) {
				t.Fatalf("parameters of %g: log chance %g of %v", size, log, r)
			}
		}
	}
	one := Mixture{1, []Column{{Family: Normal}}}
	far := one.At([]float32{0, -3}).LogProb([]Span{{Lo: 0.9, Hi: 0.95}})
	if want := -167.20; math.Abs(far-want) > 0.01 { // Mills: -z^2/2 - ln(z sqrt(2 pi)) at z = 0.9 e^3
		t.Errorf("18 deviations away: log chance %g, must be %g", far, want)
	}
	if any := one.At([]float32{0, -3}).LogProb([]Span{{Any: true}}); any != 0 {
		t.Errorf("anywhere: log chance %g, must be 0", any)
	}
}
