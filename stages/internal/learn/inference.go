package learn

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"weir/internal/bitmath"
)

// Inference is an unpenalised fit by maximum likelihood. Parameters are the
// intercept, then the coefficients. SE comes from the expected information,
// with dispersion 1 (Gaussian: residual variance with n-p-1 degrees of freedom).
// P is two-sided: normal, or for Gaussian Student's t.
type Inference struct {
	Family                          Family
	Params, SE, Z, P                []float64
	LogLik, AIC                     float64
	Deviance, NullDeviance, Pearson float64
	DFResid                         int
}

// Interval is the confidence interval of parameter j at the given level: normal,
// or for Gaussian Student's t.
func (f *Inference) Interval(j int, level float64) [2]float64 {
	q := bitmath.NormalQuantile(0.5 + float64(level/2))
	if f.Family == Gaussian {
		q = bitmath.StudentQuantile(float64(f.DFResid), 0.5+float64(level/2))
	}
	return [2]float64{f.Params[j] - float64(q*f.SE[j]), f.Params[j] + float64(q*f.SE[j])}
}

func (g *glm) inference(beta []float64, r *mat.Dense) *Inference {
	p, n := len(beta), len(g.y)
	mu := g.means(beta)
	f := &Inference{Family: g.family, Params: beta, Deviance: g.deviance(mu), DFResid: n - p}
	for i, m := range mu {
		f.Pearson += (g.y[i] - m) * (g.y[i] - m) / max(g.variance(m), 1e-300)
	}
	scale := 1.0
	if g.family == Gaussian {
		scale = f.Deviance / float64(f.DFResid)
	}
	f.LogLik = g.logLik(mu, f.Deviance)
	f.AIC = float64(2*float64(p)) - float64(2*f.LogLik)
	f.SE = standardErrors(r, scale)
	for j, b := range beta {
		z := b / f.SE[j]
		f.Z = append(f.Z, z)
		f.P = append(f.P, f.pValue(z))
	}
	return f
}

func (f *Inference) pValue(z float64) float64 {
	if f.Family == Gaussian {
		return 2 * bitmath.StudentTail(float64(f.DFResid), math.Abs(z))
	}
	return bitmath.Erfc(math.Abs(z) / math.Sqrt2)
}

// standardErrors are the roots of the diagonal of scale (R'R)^-1.
func standardErrors(r *mat.Dense, scale float64) []float64 {
	p, _ := r.Dims()
	se := make([]float64, p)
	for k := range p { // column k of R^-1, whose rows add up
		inv := make([]float64, p)
		for j := k; j >= 0; j-- {
			v := 0.0
			if j == k {
				v = 1
			}
			for m := j + 1; m <= k; m++ {
				v -= float64(r.At(j, m) * inv[m])
			}
			inv[j] = v / r.At(j, j)
			se[j] += float64(scale * inv[j] * inv[j])
		}
	}
	for j := range se {
		se[j] = sqrt(se[j])
	}
	return se
}

func (g *glm) logLik(mu []float64, deviance float64) float64 {
	sum, n := 0.0, float64(len(mu))
	for i, m := range mu {
		switch g.family {
		case Binomial:
			sum += xlogy(g.y[i], m) + xlogy(1-g.y[i], 1-m)
		case Poisson:
			l := bitmath.Lgamma(g.y[i] + 1)
			sum += xlogy(g.y[i], m) - m - l
		}
	}
	if g.family == Gaussian {
		return -n / 2 * (bitmath.Log(2*math.Pi*deviance/n) + 1)
	}
	return sum
}

// Overlap compares two confidence intervals: w = min(u)-max(l),
// 0.5 (w/(u_a-l_a) + w/(u_b-l_b)); negative where they are disjoint (Karr et
// al. 2006).
func Overlap(a, b [2]float64) float64 {
	w := min(a[1], b[1]) - max(a[0], b[0])
	return 0.5 * (w/(a[1]-a[0]) + w/(b[1]-b[0]))
}
