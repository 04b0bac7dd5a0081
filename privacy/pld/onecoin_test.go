package pld

import (
	"fmt"
	"math"
	"testing"

	"weir/privacy"
)

// twoReleases is an attack on the proof of precision: two releases with radii r1
// and r2 (one over the multiplier) share a coin of rate q, and the drifts of the second are
// the best that a list holds for what the first came out as.
type twoReleases struct{ q, r1, r2, a float64 }

// gain returns g(x, y) of the proof, the integrand of the divergence at order a.
func (t twoReleases) gain(x, y float64) float64 {
	return math.Max(0, (1-t.q)*(1-t.a)+t.q*x-t.a*t.q*y)
}

// antipodal returns the claimed bound in closed form: x rises and y falls with the
// outcome w, and the gain starts where a quadratic in e^(Rw) has its root.
func (t twoReleases) antipodal() float64 {
	r := math.Hypot(t.r1, t.r2)
	b, c := (1-t.q)*(1-t.a), t.q*math.Exp(-r*r/2)
	w := math.Log((-b+math.Sqrt(b*b+4*t.a*c*c))/(2*c)) / r
	above := func(mean float64) float64 { return 0.5 * math.Erfc((w-mean)/math.Sqrt2) }
	return b*above(0) + t.q*above(r) - t.a*t.q*above(-r)
}

// normals calls f with the points of a trapezoidal rule for a normal outcome.
func normals(f func(z, weight float64)) {
	const h = 0.05
	for i := -170; i <= 170; i++ {
		f(h*float64(i), h*normal(h*float64(i)))
	}
}

// ratio returns the likelihood ratio of drift u at outcome z.
func ratio(u, z float64) float64 { return math.Exp(u*z - u*u/2) }

// second returns the mean gain after the first release left x and y.
func (t twoReleases) second(x, y, u, v float64) float64 {
	sum := 0.0
	normals(func(z, weight float64) { sum += weight * t.gain(x*ratio(u, z), y*ratio(v, z)) })
	return sum
}

// best returns the divergence for drifts u, v of the first release and, at each of its
// outcomes, the best of the list for the second.
func (t twoReleases) best(u, v float64, list []float64) float64 {
	sum := 0.0
	normals(func(z, weight float64) {
		if int(math.Round(z*20))%2 != 0 || weight < 1e-12 { // a coarser rule does for the outer, smooth mean
			return
		}
		top := 0.0
		for _, a := range list {
			for _, b := range list {
				top = math.Max(top, t.second(ratio(u, z), ratio(v, z), a*t.r2, b*t.r2))
			}
		}
		sum += 2 * weight * top
	})
	return sum
}

// TestTwoReleasesUnderOneCoin: no choice of drifts that sees the first release beats the antipodal pair of the
// joined Gaussian, and the antipodal choice attains it.
func TestTwoReleasesUnderOneCoin(t *testing.T) {
	for _, c := range []twoReleases{
		{0.1, 0.7, 0.5, 1.05}, {0.02, 1, 1, 1.01}, {0.5, 0.4, 1.2, 2}, {0.9, 0.8, 0.8, 3}, {0.3, 1.5, 0.3, 0.8},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Parallel()
			bound := c.antipodal()
			if fixed := c.best(c.r1, -c.r1, []float64{1, -1}); math.Abs(fixed-bound) > 1e-4*bound {
				t.Errorf("antipodal drifts have %v, the closed form is %v", fixed, bound)
			}
			for _, d := range [][2]float64{{1, 1}, {1, 0}, {0, -1}, {0, 0}, {0.7, -1}, {-1, 1}, {1, -0.4}} {
				if got := c.best(d[0]*c.r1, d[1]*c.r1, []float64{-1, -0.5, 0, 1}); got > bound*(1+1e-4) {
					t.Errorf("first drifts %v: %v, above the antipodal %v", d, got, bound)
				}
			}
		})
	}
}

// TestOneReleaseAtAnyAngle: in two dimensions the drifts of a release may stand at any angle and be shorter
// than the bound: step (4) of the proof, for the divergence itself.
func TestOneReleaseAtAnyAngle(t *testing.T) {
	for _, c := range []twoReleases{{0.1, 1, 0, 1.02}, {0.5, 0.6, 0, 1.5}, {0.3, 2, 0, 0.7}} {
		bound := c.antipodal()
		for _, long := range []float64{0.3, 0.8, 1} {
			for angle := 0.0; angle <= 180; angle += 22.5 {
				sin, cos := math.Sincos(angle * math.Pi / 180)
				u, v, across := c.r1, long*c.r1*cos, long*c.r1*sin
				got := 0.0
				normals(func(z, w1 float64) {
					normals(func(o, w2 float64) {
						got += w1 * w2 * c.gain(ratio(u, z), ratio(v, z)*ratio(across, o))
					})
				})
				if got > bound*(1+1e-4) {
					t.Errorf("%v: %v at %v degrees, length %v; the antipodal is %v", c, got, angle, long, bound)
				}
			}
		}
	}
}

// TestGaussiansOnOneSampleAreOne: gaussians on one sample cost what the one Gaussian of their joint precision costs,
// under both adjacencies, however they are nested. The single delta is the closed form.
func TestGaussiansOnOneSampleAreOne(t *testing.T) {
	g := func(s float64) privacy.Event { return privacy.Gaussian{NoiseMultiplier: s} }
	many := func(n int64, e privacy.Event) privacy.Event { return privacy.Repeated{Count: n, Event: e} }
	for _, c := range []struct {
		e privacy.Event
		s float64 // 1/sqrt(sum 1/s_i^2)
	}{
		{many(4, g(2)), 1},
		{privacy.Composed{Events: []privacy.Event{g(3), g(4)}}, 2.4},
		{many(9, privacy.Composed{Events: []privacy.Event{g(15), many(3, g(20))}}), 1 / math.Sqrt(9./225+27./400)},
	} {
		for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
			sampled := func(e privacy.Event) privacy.Event { return privacy.PoissonSampled{SamplingRate: 0.01, Event: e} }
			several, one := epsilonOf(t, many(100, sampled(c.e)), adj, 1e-5), epsilonOf(t, many(100, sampled(g(c.s))), adj, 1e-5)
			if math.Abs(several-one) > 1e-9*one {
				t.Errorf("%v %s: %v, the joined one has %v", c.e, adj, several, one)
			}
		}
		got, err := New().Delta([]privacy.Event{privacy.PoissonSampled{SamplingRate: 0.01, Event: c.e}}, privacy.ReplaceOne,
			0.05)
		want := twoReleases{0.01, 1 / c.s, 0, math.Exp(0.05)}.antipodal()
		if err != nil || got < want*(1-1e-9) || got > want*(1+1e-3) {
			t.Errorf("%v: delta %v, the closed form is %v (%v)", c.e, got, want, err)
		}
	}
}
