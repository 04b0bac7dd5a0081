package metric

import (
	"errors"
	"math"
	"slices"

	"weir/internal/bitmath"
)

// DiscreteDistances holds the distances between two distributions over the same values.
// A divergence is +Inf where a support does not hold the other; all are NaN
// where P or Q is empty.
type DiscreteDistances struct {
	TotalVariation float64 // 0.5 sum |P-Q|
	L1             float64 // sum |P-Q|
	L2             float64 // sqrt(sum (P-Q)^2)
	// JSD is the Jensen-Shannon divergence 0.5 KL(P|M) + 0.5 KL(Q|M) with
	// M = (P+Q)/2, in nats; the code of DP-auto-GAN computes this one.
	JSD float64
	// JSDAsPrinted is 0.5 KL(P|Q) + 0.5 KL(Q|P): half the Jeffreys divergence,
	// which the DP-auto-GAN paper prints under the name of JSD.
	JSDAsPrinted float64
	KLRealSynth  float64 // sum P ln(P/Q)
	KLSynthReal  float64 // sum Q ln(Q/P)
	// Mu is exp(-1/(1-p1)) with p1 = max P, and MuSmoothedKL the sum over the
	// support of P of (P+mu) ln((P+mu)/(Q+mu)) (Tantipongpipat et al. 2021).
	Mu, MuSmoothedKL float64
	Hellinger        float64 // sqrt(0.5 sum (sqrt P - sqrt Q)^2)
}

// NewDiscreteDistances compares shares p and q of the same values; each sums to 1.
func NewDiscreteDistances(p, q []float64) DiscreteDistances {
	if sum(p) == 0 || sum(q) == 0 {
		n := math.NaN()
		return DiscreteDistances{n, n, n, n, n, n, n, n, n, n}
	}
	d := DiscreteDistances{Mu: smoothing(p)}
	squares, roots := 0.0, 0.0
	for i, a := range p {
		b := q[i]
		d.L1 += math.Abs(a - b)
		squares += float64((a - b) * (a - b))
		root := math.Sqrt(a) - math.Sqrt(b)
		roots += float64(root * root)
		d.JSD += float64((relative(a, (a+b)/2) + relative(b, (a+b)/2)) / 2)
		d.KLRealSynth += relative(a, b)
		d.KLSynthReal += relative(b, a)
		if a > 0 {
			d.MuSmoothedKL += relative(a+d.Mu, b+d.Mu)
		}
	}
	d.TotalVariation, d.L2, d.Hellinger = d.L1/2, math.Sqrt(squares), math.Sqrt(roots/2)
	d.JSD, d.JSDAsPrinted = max(d.JSD, 0), (d.KLRealSynth+d.KLSynthReal)/2
	return d
}

// JensenShannonDistance returns sqrt(JSD), what scipy's jensenshannon returns.
func (d DiscreteDistances) JensenShannonDistance() float64 { return math.Sqrt(d.JSD) }

func smoothing(p []float64) float64 {
	most := 0.0
	for _, v := range p {
		most = max(most, v)
	}
	if most >= 1 {
		return 0
	}
	return bitmath.Exp(-1 / (1 - most))
}

// relative returns a ln(a/b), 0 where a is 0 and +Inf where only b is.
func relative(a, b float64) float64 {
	switch {
	case a == 0:
		return 0
	case b == 0:
		return math.Inf(1)
	}
	return a * bitmath.Log(a/b)
}

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

// NumericDistances compares the distribution functions F of x and G of y.
type NumericDistances struct {
	KS          float64 // sup |F-G|
	Wasserstein float64 // integral of |F-G|, in units of the column
	Energy      float64 // sqrt(2 integral (F-G)^2) (scipy energy_distance)
}

// NewNumericDistances compares two sorted samples without missing values; all are NaN
// where one is empty.
func NewNumericDistances(x, y []float64) NumericDistances {
	if len(x) == 0 || len(y) == 0 {
		return NumericDistances{math.NaN(), math.NaN(), math.NaN()}
	}
	n, m := int64(len(x)), int64(len(y))
	var d NumericDistances
	worst, energy := int64(0), 0.0
	point := min(x[0], y[0])
	for i, j := 0, 0; i < len(x) || j < len(y); {
		next := nextValue(x, y, i, j)
		// gap is n m (F-G) just below next: exact in integers.
		gap := int64(i)*m - int64(j)*n
		f := math.Abs(float64(gap)) / (float64(n) * float64(m))
		d.Wasserstein += float64(f * (next - point))
		energy += float64(f * f * (next - point))
		for i < len(x) && x[i] == next {
			i++
		}
		for j < len(y) && y[j] == next {
			j++
		}
		point = next
		gap = int64(i)*m - int64(j)*n
		worst = max(worst, gap, -gap)
	}
	d.KS, d.Energy = float64(worst)/(float64(n)*float64(m)), math.Sqrt(2*energy)
	return d
}

func nextValue(x, y []float64, i, j int) float64 {
	switch {
	case i == len(x):
		return y[j]
	case j == len(y):
		return x[i]
	}
	return min(x[i], y[j])
}

// Sorted returns the values that are present, sorted.
func Sorted(x []float64) []float64 {
	s := make([]float64, 0, len(x))
	for _, v := range x {
		if !math.IsNaN(v) {
			s = append(s, v)
		}
	}
	slices.Sort(s)
	return s
}

// StandardDeviation returns the population standard deviation.
func StandardDeviation(x []float64) float64 {
	mean := sum(x) / float64(len(x))
	s := 0.0
	for _, v := range x {
		s += squared(v - mean)
	}
	return math.Sqrt(s / float64(len(x)))
}

// ExactSteps is how many lattice points n m a KSP that is exact may take by default: about a
// tenth of a second on one core.
const ExactSteps = 25_000_000

// KSP returns the two-sided p-value of the Kolmogorov-Smirnov statistic d of samples
// of n and m values: exact (ksExact) where n m is at most most, the limit (KSLimit)
// beyond; exact says which. With ties both are conservative.
func KSP(d float64, n, m, most int) (p float64, exact bool) {
	if n == 0 || m == 0 {
		return math.NaN(), false
	}
	if n <= most/m {
		return ksExact(d, n, m), true
	}
	return KSLimit(d, n, m), false
}

// ksExact returns the share of lattice paths from (0,0) to (n,m) that somewhere have
// |i/n - j/m| >= d (Hodges 1958; scipy ks_2samp mode="exact"). Shares of paths
// that have crossed are followed, so that small p-values lose no digits.
func ksExact(d float64, n, m int) float64 {
	// d is a whole number over n m; rounding restores it.
	bound := int64(math.Round(d * float64(n) * float64(m)))
	if bound <= 0 {
		return 1
	}
	crossed := make([]float64, m+1)
	for i := 0; i <= n; i++ {
		for j := 0; j <= m; j++ {
			if gap := int64(i)*int64(m) - int64(j)*int64(n); max(gap, -gap) >= bound {
				crossed[j] = 1
				continue
			}
			v := 0.0
			if i > 0 {
				v = float64(crossed[j] * float64(i))
			}
			if j > 0 {
				v += float64(crossed[j-1] * float64(j))
			}
			crossed[j] = v / math.Max(1, float64(i+j))
		}
	}
	return min(1, crossed[m])
}

// KSLimit returns the Kolmogorov distribution's survival function at
// sqrt(nm/(n+m)) d (scipy.special.kolmogorov).
func KSLimit(d float64, n, m int) float64 {
	t := d * math.Sqrt(float64(n)/float64(n+m)*float64(m))
	if t <= 0 {
		return 1
	}
	if t < 1 {
		return 1 - thetaSmall(t)
	}
	p, sign := 0.0, 1.0
	for k := 1.0; k < 30; k++ {
		p += float64(sign * bitmath.Exp(-2*k*k*t*t))
		sign = -sign
	}
	return 2 * p
}

// thetaSmall returns the distribution function by the series that converges for
// small t (Marsaglia, Tsang, Wang 2003).
func thetaSmall(t float64) float64 {
	s := 0.0
	for k := 1.0; k < 20; k++ {
		o := float64(2*k) - 1
		s += bitmath.Exp(-o * o * math.Pi * math.Pi / (8 * t * t))
	}
	return math.Sqrt(2*math.Pi) / t * s
}

// ChiSquare is a chi-square test: P is the chance of a statistic at least as
// large where both tables are drawn from one distribution.
type ChiSquare struct {
	Statistic, P float64
	DoF          int
}

var (
	errOneValue = errors.New("one value only, so that there is nothing to test")
	errEmpty    = errors.New("a table has no rows")
)

// TwoSampleChiSquare tests the 2 by k table of counts; values that occur in neither
// table are dropped, no Yates correction (scipy chi2_contingency).
func TwoSampleChiSquare(real, synth []int64) (ChiSquare, error) {
	n, m := total(real), total(synth)
	if n == 0 || m == 0 {
		return ChiSquare{}, errEmpty
	}
	c, values := ChiSquare{}, 0
	for i, a := range real {
		both := float64(a + synth[i])
		if both == 0 {
			continue
		}
		values++
		ea, eb := both*n/(n+m), both*m/(n+m)
		c.Statistic += squared(float64(a)-ea)/ea + squared(float64(synth[i])-eb)/eb
	}
	return c.withDegrees(values - 1)
}

func (c ChiSquare) withDegrees(dof int) (ChiSquare, error) {
	if dof < 1 {
		return ChiSquare{}, errOneValue
	}
	c.DoF = dof
	c.P = bitmath.ChiSquareTail(dof, c.Statistic)
	return c, nil
}

func total(counts []int64) float64 {
	n := int64(0)
	for _, c := range counts {
		n += c
	}
	return float64(n)
}

func squared(x float64) float64 { return float64(x * x) }
