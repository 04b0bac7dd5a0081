package train

import (
	"context"
	"math"
	"testing"

	"weir/internal/bitmath"
)

// coins is the logit of one coin and the flips of it.
type coins []int32

func (coins) Params() int                           { return 1 }
func (coins) PerExample() (written bool, err error) { return false, nil }
func (c coins) Worker(int) Worker                   { return &coinWorker{flips: c} }

type coinWorker struct {
	flips coins
	grad  []float64
}

func (k *coinWorker) Run(w []float32, index []int32, _ Draw, loss []float64) {
	p := 1 / (1 + math.Exp(-float64(w[0])))
	k.grad = k.grad[:0]
	for i, row := range index {
		x := float64(k.flips[row])
		k.grad = append(k.grad, p-x)
		if loss != nil {
			loss[i] = -x*math.Log(p) - (1-x)*math.Log(1-p)
		}
	}
}

func (k *coinWorker) Squares(dst, _ []float64) {
	for i, g := range k.grad {
		dst[i] += g * g
	}
}

func (k *coinWorker) Accumulate(grad, scale []float32) {
	for i, g := range k.grad {
		if scale != nil {
			g *= float64(scale[i])
		}
		grad[0] += float32(g)
	}
}

// uniform sets the gradient of log p(1-p), the density of the logit of a uniform p.
func uniform(gradient []float64, w []float32) {
	gradient[0] = 1 - 2/(1+math.Exp(-float64(w[0])))
}

func flips(n, heads int) coins {
	c := make(coins, n)
	for i := range heads {
		c[i] = 1
	}
	return c
}

// TestMeanFieldStepByHand: two steps of plain descent with noise, of which everything is
// written out: theta = m + exp(s) eta, G the noisy clipped sum, m moves against
// (G - q prior)/B, s against ((G - q prior) exp(s) eta - q)/B.
func TestMeanFieldStepByHand(t *testing.T) {
	o := flips(50, 20)
	c := DPSGD{MaxGradNorm: 0.25, NoiseMultiplier: 2, SamplingRate: 0.4, ExpectedBatchSize: 10, Steps: 2}
	got, err := FitMeanField(context.Background(), FitConfig{Optimiser: SGD(0.1, 0)}, o, uniform, MeanField{[]float32{0.5},
		[]float32{-1}}, 50, 3, paid(c, "hand"), Hooks{})
	must(err)
	m, s := 0.5, -1.0
	for step := range 2 {
		eta := bitmath.Normal(public(3, "mean field", uint64(step)))
		away := math.Exp(s) * eta
		theta := m + away
		p := 1 / (1 + math.Exp(-theta))
		sum := []float32{0}
		l, err := c.lattice(1)
		must(err)
		for _, row := range streamOf("hand", step, "sample").Poisson(nil, 50, 0.4) {
			sum[0] += float32(math.Max(-l.Clip, math.Min(l.Clip, p-float64(o[row])))) // what the lattice leaves of the clip
		}
		streamOf("hand", step, "noise").LatticeGaussian(sum, 0.5, l.Step)
		up := float64(sum[0]) - 0.4*(1-2*p)
		m, s = m-0.1*up/10, s-0.1*(up*away-0.4)/10
	}
	// A clipped gradient loses 2^-20 of itself; everything else is float32.
	if math.Abs(float64(got.Mean[0])-m) > 1e-5 || math.Abs(float64(got.LogDeviation[0])-s) > 1e-5 {
		t.Errorf("law %v, by hand %g, %g", got, m, s)
	}
}

// TestMeanFieldFindsThePosterior: under a uniform prior the posterior of p after 60 heads of
// 200 is Beta(61, 141). Its logit has mean psi(61)-psi(141) = -0.84255 and standard
// deviation sqrt(psi'(61)+psi'(141)) = 0.15377 (Johnson, Kotz, Balakrishnan 1995, chapter 25;
// by the asymptotic series). It is nearly normal (skewness -0.09), so that the law nearest to
// it is as near as 0.005. The average of the last steps, of which each errs by its eta, is
// within 0.02 of it and 6 percent; keys are fixed.
func TestMeanFieldFindsThePosterior(t *testing.T) {
	c := DPSGD{MaxGradNorm: math.Inf(1), SamplingRate: 1, ExpectedBatchSize: 200, Steps: 6000}
	fit := FitConfig{Optimiser: Adam(0.02, 0.9, 0.999), Average: 0.999}
	got, err := FitMeanField(context.Background(), fit, flips(200, 60), uniform, MeanField{[]float32{0}, []float32{0}},
		200, 1, paid(c, "posterior"), Hooks{})
	must(err)
	mean, sd := float64(got.Mean[0]), math.Exp(float64(got.LogDeviation[0]))
	if math.Abs(mean+0.84255) > 0.02 || math.Abs(sd/0.15377-1) > 0.06 {
		t.Errorf("law of mean %g and deviation %g, the posterior has -0.84255 and 0.15377", mean, sd)
	}
}

// TestMeanFieldWithoutRowsFindsThePrior: the logit of a uniform p is logistic. The normal law
// of the greatest evidence bound has mean 0 and the deviation s that solves
// E[z tanh(s z/2)] = 1/s, 1.7488 (by bisection, numerically). Keys are fixed.
func TestMeanFieldWithoutRowsFindsThePrior(t *testing.T) {
	c := DPSGD{MaxGradNorm: math.Inf(1), SamplingRate: 1, ExpectedBatchSize: 1, Steps: 8000}
	fit := FitConfig{Optimiser: Adam(0.02, 0.9, 0.999), Average: 0.999}
	got, err := FitMeanField(context.Background(), fit, coins{}, uniform, MeanField{[]float32{2}, []float32{-2}}, 0, 1,
		paid(c, "prior"), Hooks{})
	must(err)
	s := math.Exp(float64(got.LogDeviation[0]))
	if math.Abs(float64(got.Mean[0])) > 0.15 || math.Abs(s/1.7488-1) > 0.1 {
		t.Errorf("law %v", got)
	}
}

func TestMeanFieldContinuesBitForBit(t *testing.T) {
	for _, average := range []float64{0, 0.9} {
		c := DPSGD{MaxGradNorm: 1, NoiseMultiplier: 1, SamplingRate: 0.3, ExpectedBatchSize: 60, Steps: 20}
		resume(t, 7, func(h Hooks) []float32 {
			l, err := FitMeanField(context.Background(), FitConfig{Optimiser: Adam(0.01, 0.9, 0.999), Average: average},
				flips(200, 60), uniform,
				MeanField{[]float32{0}, []float32{-1}}, 200, 5, paid(c, "again"), h)
			must(err)
			return []float32{l.Mean[0], l.LogDeviation[0]}
		})
	}
}

// TestMeanFieldStaysFinite: noise far above any signal moves a law to its bounds and no
// further.
func TestMeanFieldStaysFinite(t *testing.T) {
	c := DPSGD{MaxGradNorm: 1, NoiseMultiplier: 1e6, SamplingRate: 0.3, ExpectedBatchSize: 1, Steps: 300}
	got, err := FitMeanField(context.Background(), FitConfig{Optimiser: SGD(1e6, 0)}, flips(200, 60), uniform,
		MeanField{[]float32{0}, []float32{0}}, 200, 5, paid(c, "far"), Hooks{})
	must(err)
	if m, s := got.Mean[0], got.LogDeviation[0]; !(m >= -mostMean && m <= mostMean && s >= leastLogDeviation &&
		s <= mostLogDeviation) {
		t.Errorf("law %v", got)
	}
}

// TestMeanFieldRefuses: what was not paid for, and a start that does not fit.
func TestMeanFieldRefuses(t *testing.T) {
	c, fit := DPSGD{MaxGradNorm: 1, NoiseMultiplier: 1, SamplingRate: 0.3, ExpectedBatchSize: 1, Steps: 3},
		FitConfig{Optimiser: SGD(1, 0)}
	one := MeanField{[]float32{0}, []float32{0}}
	for name, run := range map[string]func() error{
		"no handle": func() error {
			_, err := FitMeanField(context.Background(), fit, flips(2, 1), uniform, one, 2, 1, nil, Hooks{})
			return err
		},
		"another mechanism": func() error {
			_, err := FitMeanField(context.Background(), fit, flips(2, 1), uniform, one, 2, 1,
				paid(CriticQuery{MaxGradNorm: 1, NoiseMultiplier: 1, Steps: 1, BatchSize: 1, Columns: 1, Critics: 1,
					Query: QueryMean, Schedule: SchedulePublic}, "x"), Hooks{})
			return err
		},
		"two deviations": func() error {
			_, err := FitMeanField(context.Background(), fit, flips(2, 1), uniform, MeanField{one.Mean, []float32{0, 0}}, 2, 1,
				paid(c, "x"), Hooks{})
			return err
		},
	} {
		if run() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
