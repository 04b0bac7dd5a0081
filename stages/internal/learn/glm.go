package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"weir/internal/bitmath"
)

// Family is the law of the response and its canonical link.
type Family string

const (
	Binomial Family = "logistic" // logit link, y 0 or 1
	Poisson  Family = "poisson"  // log link, y counts
	Gaussian Family = "linear"   // identity link, variance estimated
)

// glm is a fit under way: columns are ones, then x.
type glm struct {
	family    Family
	cols      [][]float64
	y, offset []float64
	workers   int
}

// FitGLM fits y on x by iterated weighted least squares (statsmodels GLM and
// OLS), each step by QR of the weighted columns: badly scaled columns lose no
// digits. offset may be nil. The error is *NotEstimable where the fit does not
// exist or is not unique.
func FitGLM(ctx context.Context, family Family, x Matrix, y, offset []float64, run Run) (*Inference, error) {
	x = x.Dense()
	g := &glm{family: family, y: y, offset: offset, workers: run.Workers, cols: [][]float64{ones(x.Rows)}}
	g.cols = append(g.cols, x.Cols...)
	if x.Rows <= len(x.Cols)+1 {
		return nil, &NotEstimable{-1, fmt.Sprintf("%d rows are too few for %d parameters", x.Rows, len(g.cols))}
	}
	beta, r, err := g.fit(ctx)
	if err != nil {
		return nil, err
	}
	null := &glm{family: family, y: y, offset: offset, workers: run.Workers, cols: g.cols[:1]}
	base, _, err := null.fit(ctx)
	if err != nil {
		return nil, err
	}
	f := g.inference(beta, r)
	f.NullDeviance = null.deviance(null.means(base))
	return f, nil
}

func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }

// means returns the fitted mean of each row.
func (g *glm) means(beta []float64) []float64 {
	mu := make([]float64, len(g.y))
	if g.offset != nil {
		copy(mu, g.offset)
	}
	for j, c := range g.cols {
		axpy(beta[j], c, mu)
	}
	for i, eta := range mu {
		switch g.family {
		case Binomial:
			mu[i] = Sigmoid(eta)
		case Poisson:
			mu[i] = bitmath.Exp(eta)
		}
	}
	return mu
}

func (g *glm) variance(mu float64) float64 {
	switch g.family {
	case Binomial:
		return mu * (1 - mu)
	case Poisson:
		return mu
	}
	return 1
}

// deviance returns twice the gap to the saturated log-likelihood (Gaussian: the sum
// of squares).
func (g *glm) deviance(mu []float64) float64 {
	sum := 0.0
	for i, m := range mu {
		y := g.y[i]
		switch g.family {
		case Binomial:
			sum += float64(2 * (xlogy(y, y/m) + xlogy(1-y, (1-y)/(1-m))))
		case Poisson:
			sum += float64(2 * (xlogy(y, y/m) - (y - m)))
		default:
			sum += float64((y - m) * (y - m))
		}
	}
	return sum
}

func xlogy(x, y float64) float64 {
	if x == 0 {
		return 0
	}
	return x * bitmath.Log(y)
}

// start returns the starting means, as statsmodels takes them.
func (g *glm) start() []float64 {
	mean, _ := Moments(g.y)
	mu := make([]float64, len(g.y))
	for i, y := range g.y {
		mu[i] = (y + mean) / 2
		if g.family == Binomial {
			mu[i] = (y + 0.5) / 2
		}
	}
	return mu
}

func (g *glm) link(mu float64) float64 {
	switch g.family {
	case Binomial:
		return bitmath.Log(mu / (1 - mu))
	case Poisson:
		return bitmath.Log(mu)
	}
	return mu
}

// fit returns the parameters and the triangle of the weighted columns at them.
func (g *glm) fit(ctx context.Context) ([]float64, *mat.Dense, error) {
	mu := g.start()
	if g.family == Poisson && normInf(mu) == 0 {
		return nil, nil, &NotEstimable{-1, "every count is 0, so the log of the rate is minus infinity"}
	}
	var beta []float64
	// 60 steps: from a fit that exists the method doubles its digits each step.
	for range 60 {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		b, err := g.step(mu)
		if err != nil {
			return nil, nil, err
		}
		mu = g.means(b)
		d := g.deviance(mu)
		if why := g.degenerate(d); why != "" {
			return nil, nil, &NotEstimable{-1, why}
		}
		done := beta != nil && closeTo(b, beta) || g.family == Gaussian
		if beta = b; done {
			return g.finish(beta, mu)
		}
		if math.IsNaN(d) || math.IsInf(d, 0) {
			break
		}
	}
	return nil, nil, &NotEstimable{-1, "the likelihood has no finite maximum that 60 steps reach (separation)"}
}

// degenerate says why a fit of deviance d has no use. 1e-6 a row is far below the
// deviance of outcomes that overlap; 1e-24 of the squares is rounding.
func (g *glm) degenerate(d float64) string {
	switch {
	case g.family == Binomial && d < 1e-6*float64(len(g.y)):
		return "the columns separate the two outcomes perfectly, so the coefficients are infinite"
	case g.family == Gaussian && len(g.cols) > 1 && d <= 1e-24*dot(g.y, g.y):
		return "the response is fitted without error, so nothing is left to infer from"
	}
	return ""
}

func (g *glm) finish(beta, mu []float64) ([]float64, *mat.Dense, error) {
	r, _, err := g.triangle(mu)
	return beta, r, err
}

func closeTo(a, b []float64) bool {
	for j, v := range a {
		if !(math.Abs(v-b[j]) <= 1e-10*(1e-3+math.Abs(v))) { // so that NaN is not close
			return false
		}
	}
	return true
}

// step solves the weighted least squares problem at the means mu.
func (g *glm) step(mu []float64) ([]float64, error) {
	r, rhs, err := g.triangle(mu)
	if err != nil {
		return nil, err
	}
	beta := make([]float64, len(g.cols))
	for j := len(beta) - 1; j >= 0; j-- {
		v := rhs[j]
		for k := j + 1; k < len(beta); k++ {
			v -= float64(r.At(j, k) * beta[k])
		}
		beta[j] = v / r.At(j, j)
	}
	return beta, nil
}

// triangle returns R of QR of the columns times the root of the working weights, and
// Q' times the working response.
func (g *glm) triangle(mu []float64) (*mat.Dense, []float64, error) {
	p := len(g.cols)
	weighted := NewMatrix(len(g.y), p+1)
	for i, m := range mu {
		v := max(g.variance(m), 1e-300)
		w := sqrt(v)
		z := g.link(m) + (g.y[i]-m)/v
		if g.offset != nil {
			z -= g.offset[i]
		}
		weighted.Cols[p][i] = w * z
		for j, c := range g.cols {
			weighted.Cols[j][i] = w * c[i]
		}
	}
	t := triangle(weighted.Cols, g.workers)
	rhs := make([]float64, p)
	for j := range p {
		rhs[j] = t.At(j, p)
		// 1e-9 of its length is what rounding leaves of a column that the ones
		// before it determine.
		if math.Abs(t.At(j, j)) <= 1e-9*sqrt(dot(weighted.Cols[j], weighted.Cols[j])) {
			return nil, nil, &NotEstimable{j - 1, "a column is determined by the others, or constant"}
		}
	}
	return mat.DenseCopyOf(t.Slice(0, p, 0, p)), rhs, nil
}

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

// Interval returns the confidence interval of parameter j at the given level: normal,
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

// standardErrors returns the roots of the diagonal of scale (R'R)^-1.
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

// NotEstimable says why a model has no unique finite fit. Column is the feature
// that the ones before it determine, -1 where none is to blame.
type NotEstimable struct {
	Column int
	Reason string
}

func (e *NotEstimable) Error() string { return e.Reason }

// Declined returns the reason for which the rows allow no fit; "" where there is one,
// or where the run was cancelled. Any other failure of a learner is a reason too:
// it depends on rows, on which no run may fail.
func Declined(err error) string {
	var no *NotEstimable
	switch {
	case err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return ""
	case errors.As(err, &no):
		return no.Reason
	}
	return "the learner failed: " + err.Error()
}
