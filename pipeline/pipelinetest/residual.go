package pipelinetest

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"weir/privacy"
)

// falseAlarm is the rate at which right noise may fail one test.
const falseAlarm = 1e-6

// residuals is the noise that the uses of one additive mechanism added.
type residuals struct {
	mechanism privacy.Additive
	whole     bool // integers
	uses      [][]float64
}

// add notes a use; false where it does not add noise to numbers.
func (r *residuals) add(x privacy.Released) bool {
	additive, ok := x.Mechanism.(privacy.Additive)
	in, out, err := pair(x.In, x.Out)
	if !ok || err != nil {
		return false
	}
	_, r.whole = x.Out.([]int64)
	r.mechanism = additive
	noise := make([]float64, len(in))
	for i := range in {
		noise[i] = out[i] - in[i]
	}
	r.uses = append(r.uses, noise)
	return true
}

func (r *residuals) count() (n int) {
	for _, u := range r.uses {
		n += len(u)
	}
	return n
}

// coincidence bounds the chance that two numbers of noise, or noise and zero, agree.
func (r *residuals) coincidence() float64 {
	if r.whole {
		return min(1, 1/r.mechanism.Deviation())
	}
	return 0x1p-16 // the lattice is at least as fine
}

// faults says what of the noise is not as planned. Right noise is called wrong with
// probability below falseAlarm in each of the three tests.
func (r *residuals) faults() []string {
	var list []string
	for i, u := range r.uses {
		if r.rare(len(u)) && zero(u) {
			list = append(list, fmt.Sprintf("what comes out of use %d is what went in: no noise was drawn", i+1))
		}
	}
	if repeat := r.repeated(); repeat != "" {
		list = append(list, repeat)
	}
	if p := r.scaleP(); p < falseAlarm {
		list = append(list, fmt.Sprintf("the noise has not the planned deviation %.6g: %.6g over %d numbers (p = %.2g)", r.mechanism.Deviation(), r.deviation(), r.count(), p))
	}
	return list
}

// rare says that n numbers agree by chance too seldom to be one, over all that is
// compared.
func (r *residuals) rare(n int) bool {
	tries := float64(len(r.uses)*len(r.uses) + r.count())
	return math.Pow(r.coincidence(), float64(n))*tries < falseAlarm
}

func zero(u []float64) bool {
	for _, v := range u {
		if v != 0 {
			return false
		}
	}
	return len(u) > 0
}

// repeated looks for the same noise in two uses, or at two places of one.
func (r *residuals) repeated() string {
	seen := map[string]int{}
	for i, u := range r.uses {
		key := fmt.Sprint(u)
		if before, ok := seen[key]; ok && r.rare(len(u)) {
			return fmt.Sprintf("uses %d and %d have the same noise", before+1, i+1)
		}
		seen[key] = i
		for lag := 1; lag < len(u) && r.rare(len(u)-lag); lag++ {
			if same(u[lag:], u[:len(u)-lag]) {
				return fmt.Sprintf("use %d has the same noise every %d numbers", i+1, lag)
			}
		}
	}
	return ""
}

func same(a, b []float64) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func (r *residuals) deviation() float64 {
	return math.Sqrt(r.sum(func(x float64) float64 { return x * x }) / float64(r.count()))
}

func (r *residuals) sum(f func(float64) float64) (s float64) {
	for _, u := range r.uses {
		for _, x := range u {
			s += f(x)
		}
	}
	return s
}

// scaleP is the two-sided p-value of the planned scale: by the sum of squares of
// normal noise, which is chi-square, and by the sum of absolute values of Laplace
// noise, which is gamma; of integers that has the gamma law of equal mean and
// variance.
func (r *residuals) scaleP() float64 {
	n, d := float64(r.count()), r.mechanism.Deviation()
	law, x := distuv.ChiSquared{K: n}.Survival, 0.0
	if isLaplace(r.mechanism.Event(privacy.AddRemove)) {
		mean, spread := d/math.Sqrt2, 1.0
		if r.whole {
			b := 0.5 / math.Asinh(math.Sqrt2/(2*d))
			mean = 1 / math.Sinh(1/b)
			spread = (float64(d*d) - float64(mean*mean)) / (mean * mean)
		}
		x = 2 * r.sum(math.Abs) / (mean * spread)
		law = distuv.ChiSquared{K: 2 * n / spread}.Survival
	} else {
		x = r.sum(func(x float64) float64 { return x * x }) / (d * d)
	}
	above := law(x)
	return 2 * min(above, 1-above)
}

func isLaplace(e privacy.Event) bool {
	switch e := e.(type) {
	case privacy.Laplace, privacy.DiscreteLaplace:
		return true
	case privacy.Repeated:
		return isLaplace(e.Event)
	case privacy.PoissonSampled:
		return isLaplace(e.Event)
	case privacy.SampledWithoutReplacement:
		return isLaplace(e.Event)
	}
	return false
}
