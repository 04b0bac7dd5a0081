package bitmath

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// TestDistributionsAreThoseOfCephes: against gonum's ports of the Cephes library: good to about 1e-13 of the value, but
// for Student's law, where it subtracts from 1 what is near 1.
func TestDistributionsAreThoseOfCephes(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	near := func(what string, got, want, x, digits float64) {
		t.Helper()
		if !(math.Abs(got-want) <= digits*math.Abs(want)+1e-290) {
			t.Errorf("%s at %v is %v, gonum says %v (%g)", what, x, got, want, (got-want)/want)
		}
	}
	for range 20_000 {
		k := 1 + r.IntN(40)
		if r.IntN(10) == 0 {
			k = 1 + r.IntN(5000)
		}
		x := float64(k) * math.Exp(2*r.NormFloat64()/math.Sqrt(float64(k)))
		near("chi-squared", ChiSquareTail(k, x), mathext.GammaIncRegComp(float64(k)/2, x/2), x, 2e-12)
		a, b := math.Exp(6*r.Float64()-1), math.Exp(6*r.Float64()-1)
		u := r.Float64()
		near("beta", BetaCDF(a, b, u), mathext.RegIncBeta(a, b, u), u, 2e-12)
		nu, z := 1+float64(r.IntN(20_000)), 4*r.NormFloat64()
		near("Student", StudentTail(nu, math.Abs(z)), distuv.StudentsT{Sigma: 1, Nu: nu}.Survival(math.Abs(z)), z, 1e-9)
		near("normal", NormalTail(z), math.Erfc(z/math.Sqrt2)/2, z, 1e-15)
	}
}

// TestStudentTailInClosedForm: with one and two degrees of freedom Student's law has closed forms.
func TestStudentTailInClosedForm(t *testing.T) {
	for x := 0.01; x < 50; x *= 1.1 {
		for degrees, want := range map[float64]float64{1: math.Atan(1/x) / math.Pi, 2: 1 / (x*x + 2 + x*math.Sqrt(x*x+2))} {
			if got := StudentTail(degrees, x); !(math.Abs(got-want) <= 1e-14*want) {
				t.Errorf("the tail above %v with %v degrees is %v, want %v", x, degrees, got, want)
			}
		}
	}
}

// TestFTailInClosedForm: with two degrees of freedom above, Fisher's law has a closed form, also where x is next to the
// border between the two sides of the fraction and the other degrees are many.
func TestFTailInClosedForm(t *testing.T) {
	for d := 2.; d < 1e10; d *= 3.7 {
		for _, x := range []float64{0.01, 1, 1.9, 2 - 0x1p-30, 2, 2 + 0x1p-30, 2.1, 5, 30} {
			want := math.Exp(-d / 2 * math.Log1p(2*x/d))
			if got := FTail(2, d, x); !(math.Abs(got-want) <= 1e-13*want) {
				t.Errorf("the tail above %v with 2 and %v degrees is %v, want %v", x, d, got, want)
			}
		}
	}
}

// TestQuantilesUndoTheirLaws: a quantile is where its law has the chance.
func TestQuantilesUndoTheirLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 2000 {
		p := r.Float64()
		a, b := math.Exp(6*r.Float64()), math.Exp(6*r.Float64())
		nu := 1 + float64(r.IntN(1000))
		for what, back := range map[string]float64{
			"beta":    BetaCDF(a, b, BetaQuantile(a, b, p)),
			"normal":  NormalTail(-NormalQuantile(p)),
			"Student": 1 - StudentTail(nu, StudentQuantile(nu, 0.5+p/2)) - 0.5 + p/2,
		} {
			want := p
			if !(math.Abs(back-want) <= 1e-11) {
				t.Errorf("the chance below the %s quantile of %v is %v", what, want, back)
			}
		}
	}
}

// TestTailsOfNaN: a p-value of what is not a number is none.
func TestTailsOfNaN(t *testing.T) {
	nan := math.NaN()
	for name, p := range map[string]float64{"chi-squared": ChiSquareTail(5, nan), "Student": StudentTail(5, nan),
		"Student's degrees": StudentTail(nan, 1),
		"Fisher":            FTail(3, 4, nan), "beta": BetaCDF(1, 1, nan), "normal": NormalTail(nan),
		"a quantile": StudentQuantile(nan,
			0.975)} {
		if p == p {
			t.Errorf("the tail of %s is %v", name, p)
		}
	}
	if p := FTail(3, 4, math.Inf(1)) + StudentTail(5, math.Inf(1)); p != 0 {
		t.Errorf("the tails beyond infinity are %v", p)
	}
}

// TestNormalQuantileIsTheHalvedOne: from a guess it ends at the float at which halving the whole line ends, in both
// tails, beside 1, and where the guess is not close enough.
func TestNormalQuantileIsTheHalvedOne(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	chances := []float64{math.SmallestNonzeroFloat64, 0x1p-1022, 1e-300, 0.5, math.Nextafter(0.5, 0),
		math.Nextafter(0.5, 1), 1 - 0x1p-53}
	for range 10_000 {
		chances = append(chances, r.Float64(), Exp(-700*r.Float64()), 1-float64(1e-6*r.Float64()))
	}
	for _, p := range chances {
		want := rising(-40, 40, func(z float64) bool { return NormalTail(-z) < p })
		if got := NormalQuantile(p); p > 0 && p < 1 && got != want {
			t.Fatalf("chance %g: quantile %v, want %v", p, got, want)
		}
	}
}
