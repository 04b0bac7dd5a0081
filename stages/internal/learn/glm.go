package learn

import (
	"context"
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

// means is the fitted mean of each row.
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

// deviance is twice the gap to the saturated log-likelihood (Gaussian: the sum
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

// starting means, as statsmodels takes them.
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

// triangle is R of QR of the columns times the root of the working weights, and
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
