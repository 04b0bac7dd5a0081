package distance

import (
	"math"

	"weir/internal/bitmath"
)

// ExactSteps is how many lattice points n m a KSP that is exact may take by default: about a
// tenth of a second on one core.
const ExactSteps = 25_000_000

// KSP is the two-sided p-value of the Kolmogorov-Smirnov statistic d of samples
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

// ksExact is the share of lattice paths from (0,0) to (n,m) that somewhere have
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

// KSLimit is the Kolmogorov distribution's survival function at
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

// thetaSmall is the distribution function by the series that converges for
// small t (Marsaglia, Tsang, Wang 2003).
func thetaSmall(t float64) float64 {
	s := 0.0
	for k := 1.0; k < 20; k++ {
		o := float64(2*k) - 1
		s += bitmath.Exp(-o * o * math.Pi * math.Pi / (8 * t * t))
	}
	return math.Sqrt(2*math.Pi) / t * s
}
