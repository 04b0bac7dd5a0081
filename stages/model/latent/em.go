package latent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"weir/internal/bitmath"
	"weir/privacy"
	"weir/privacy/mechanism"
)

// labelledCodes are rows of Dim numbers, and the label of each.
type labelledCodes struct {
	Dim    int
	Values []float32 // Dim a row
	Labels []int32
}

func (c labelledCodes) row(i int) []float32 { return c.Values[i*c.Dim : (i+1)*c.Dim] }

// emConfig says how DP-EM learns mixtures of Gaussians, one for each label, from noisy moments (Park, Foulds,
// Chaudhuri, Welling 2017). Rows are codes: vectors of a public dimension, clipped to a public radius. All settings are
// public.
type emConfig struct {
	moments
	Rounds int     // noisy moments that are asked for
	Floor  float64 // least standard deviation of a component in any direction
	// components of each label, Components at most; nil: Components. Where rows say so (clusters), nothing is proven
	Used []int
}

// used returns how many components a label has.
func (c emConfig) used(label int) int {
	if c.Used == nil {
		return c.Components
	}
	return c.Used[label]
}

// leastRadius keeps a code that is clipped to it, and what is made of it by Floor, far from
// where float64 loses digits: a code clipped to 5e-324 is a vector of zeros and that number,
// whatever its length.
const leastRadius = 1e-30

// Validate names every field that is out of range.
func (c emConfig) Validate() error {
	var errs []error
	check := func(ok bool, name string, value any, need string) {
		if !ok {
			errs = append(errs, fmt.Errorf("%s: is %v, must be %s", name, value, need))
		}
	}
	check(c.Labels >= 1, "labels", c.Labels, "at least 1")
	check(c.Components >= 1, "components", c.Components, "at least 1")
	check(c.Dim >= 1, "dim", c.Dim, "at least 1")
	check(c.Used == nil || len(c.Used) == c.Labels && slices.Min(c.Used) >= 1 && slices.Max(c.Used) <= c.Components,
		"used", c.Used, "from 1 to components of each label")
	check(c.Rounds >= 1 && (c.Rounds > 1 || c.Components == 1), "rounds", c.Rounds,
		"at least 1, and 2 for more than one component")
	check(c.Radius >= leastRadius && c.Radius < 1e30, "radius", c.Radius, fmt.Sprintf("from %g to below 1e30",
		leastRadius))
	check(c.Floor >= 1e-4*c.Radius && c.Floor < c.Radius, "floor", c.Floor, "at least 1e-4 of the radius and below it")
	return errors.Join(errs...)
}

// fitMixtures runs Rounds rounds of DP-EM on a paid mechanism.GaussianFilter and returns a
// mixture for each label.
//
// The first round asks for the moments of each label as a whole, from which Components
// Gaussians are drawn by r, which is public. Each further round asks for the moments under the
// mixtures that the rounds before it gave, and the next mixtures are the mixtures of
// maximum likelihood for them (update says how noise is dealt with). Every round
// costs an equal part of the filter's total, for all labels together: a row has one
// label, whatever it is. Guarantee: the guarantee of the paid filter, for all rounds and all labels;
// sensitivity is the sensitivity of moments.
//
// The share of a label is its noisy size, averaged over rounds. No exact count is used.
func fitMixtures(ctx context.Context, c emConfig, x labelledCodes, r *rand.Rand, paid *privacy.Handle) (
	[]codeMixture, error) {
	m, ok := paid.Mechanism().(mechanism.GaussianFilter)
	if !ok {
		return nil, fmt.Errorf("paid: is %T, must be a Gaussian filter: %w", paid.Mechanism(), privacy.ErrUses)
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	f := newMixtureFit(c, x, m, paid)
	current := f.start()
	for t := range c.Rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		noisy, err := f.release(current)
		if err != nil {
			return nil, err
		}
		for l := range current {
			current[l].Components = f.update(noisy[l], current[l].Components)
			if t == 0 {
				current[l].Components = spread(current[l].Components[0], f.used(l), r)
			}
		}
	}
	f.share(current)
	return current, nil
}

type mixtureFit struct {
	emConfig
	x     labelledCodes
	paid  *privacy.Handle
	moves mechanism.Moves
	sigma float64   // of the noise on each integer
	sizes []float64 // noisy, of each label, summed over rounds
}

// newMixtureFit takes the finest unit at which the noise is within reach of integers: below 2^40,
// as mechanism.ReleaseIntegers wants it. That depends on public numbers alone.
func newMixtureFit(c emConfig, x labelledCodes, m mechanism.GaussianFilter, paid *privacy.Handle) *mixtureFit {
	f := &mixtureFit{emConfig: c, x: x, paid: paid, sizes: make([]float64, c.Labels)}
	for f.unit = finest; ; f.unit /= 2 {
		f.moves = f.Moves()
		if f.sigma = m.Noise(f.moves, m.Total()/float64(c.Rounds)); f.sigma < 0x1p39 || f.unit <= coarsest {
			return f
		}
	}
}

// start has all weight on the first component, so that the first round asks for whole
// labels.
func (f *mixtureFit) start() []codeMixture {
	all := make([]codeMixture, f.Labels)
	for l := range all {
		all[l].Components = make([]gaussian, f.used(l))
		for k := range all[l].Components {
			all[l].Components[k] = f.unknown()
		}
		all[l].Components[0].Weight = 1
	}
	return all
}

// unknown returns a component of which nothing is known: as wide as codes spread evenly in
// their ball would be.
func (f *mixtureFit) unknown() gaussian {
	g := gaussian{Mean: make([]float64, f.Dim)}
	deviation := math.Max(f.Radius/math.Sqrt(float64(f.Dim+2)), f.Floor)
	for i := range f.Dim {
		g.Factor = append(g.Factor, make([]float64, i+1))
		g.Factor[i][i] = deviation
	}
	return g
}

// spread gives n components that start at draws of one Gaussian, as wide as it is.
func spread(subject gaussian, n int, r *rand.Rand) []gaussian {
	if n == 1 {
		return []gaussian{subject}
	}
	out := make([]gaussian, n)
	for k := range out {
		out[k] = gaussian{1 / float64(n), make([]float64, len(subject.Mean)), subject.Factor}
		subject.draw(out[k].Mean, r)
	}
	return out
}

// release gives the noisy moments of each component of each label, rows counting 1. Labels have as many moments each,
// which are all noisy; moments of components that a label does not use are passed over.
func (f *mixtureFit) release(now []codeMixture) ([][][]float64, error) {
	sums, err := mechanism.ReleaseIntegers(f.paid, f.sums(f.x, now), f.moves, f.sigma)
	if err != nil {
		return nil, err
	}
	out := make([][][]float64, f.Labels)
	for l := range out {
		for k := range f.Components {
			if k >= f.used(l) {
				sums = sums[f.each():]
				continue
			}
			block := make([]float64, f.each())
			for i := range block {
				block[i] = float64(sums[i]) / f.unit
			}
			sums = sums[f.each():]
			out[l] = append(out[l], block)
			f.sizes[l] += block[0]
		}
	}
	return out, nil
}

// share sets the shares of labels from their noisy sizes: negative ones count as 0, and
// if none is positive all labels are equally likely.
func (f *mixtureFit) share(all []codeMixture) {
	total := 0.0
	for _, n := range f.sizes {
		total += math.Max(n, 0)
	}
	for l, n := range f.sizes {
		all[l].Share = 1 / float64(len(all))
		if total > 0 {
			all[l].Share = math.Max(n, 0) / total
		}
	}
}

// update returns the mixture of maximum likelihood for noisy moments of one label.
//
// A component is known where its noisy size is at least known: 4 standard deviations of
// the noise on a size, and 1. One that is not keeps its place and shape and gets no weight; a label
// of which none is known keeps all as it was, at equal weights. So a label with few rows or none is a
// mixture like any other, and noisy sizes alone decide. A mean is drawn back into the ball of the
// codes. A covariance is the nearest in Frobenius norm among those that are positive
// semidefinite and have its trace, as noise leaves the trace far better known than each
// eigenvalue; then no direction is narrower than Floor, nor wider than the
// ball.
func (f *mixtureFit) update(noisy [][]float64, previous []gaussian) []gaussian {
	out, total := make([]gaussian, len(previous)), 0.0
	for k, block := range noisy {
		out[k] = previous[k]
		out[k].Weight = 0
		if block[0] < f.known() {
			continue
		}
		if g, ok := f.component(block); ok {
			out[k] = g
			total += g.Weight
		}
	}
	for k := range out {
		if out[k].Weight /= total; total == 0 {
			out[k].Weight = 1 / float64(len(out))
		}
	}
	return out
}

func (f *mixtureFit) known() float64 { return math.Max(1, 4*f.sigma/f.unit) }

// component has its noisy size for a weight.
func (f *mixtureFit) component(block []float64) (g gaussian, ok bool) {
	g = gaussian{Weight: block[0], Mean: make([]float64, f.Dim)}
	second := make([][]float64, f.Dim)
	pos := 1
	for i := range second {
		second[i] = make([]float64, f.Dim)
		g.Mean[i] = f.Radius * (block[pos] / g.Weight)
		second[i][i] = f.Radius * f.Radius * (block[pos+1] / g.Weight)
		pos += 2
		for j := range i {
			second[i][j] = f.Radius * f.Radius * (block[pos] / (g.Weight * math.Sqrt2))
			second[j][i] = second[i][j]
			pos++
		}
	}
	inside(g.Mean, f.Radius)
	for i := range second {
		for j := range second {
			second[i][j] -= float64(g.Mean[i] * g.Mean[j])
		}
	}
	if second, ok = f.project(second); ok {
		g.Factor, ok = factored(second)
	}
	return g, ok
}

// inside shortens x to length radius.
func inside(x []float64, radius float64) {
	if norm := math.Sqrt(bitmath.Dot(x, x)); norm > radius {
		for i := range x {
			x[i] *= radius / norm
		}
	}
}

// project returns the covariance for a noisy symmetric matrix, which it uses up.
func (f *mixtureFit) project(noisy [][]float64) (dst [][]float64, ok bool) {
	trace := 0.0
	for i := range noisy {
		trace += noisy[i][i]
	}
	values, vectors, ok := bitmath.SymmetricEigen(noisy)
	cut(values, trace)
	for range values {
		dst = append(dst, make([]float64, len(values)))
	}
	for k, v := range vectors {
		variance := math.Min(math.Max(values[k], f.Floor*f.Floor), f.Radius*f.Radius)
		for i := range dst {
			for j := range dst {
				dst[i][j] += float64(variance * v[i] * v[j])
			}
		}
	}
	return dst, ok
}

// cut moves rising values to the nearest point that is not negative and adds up to
// total: each less one number, and 0 where that is negative (Held, Wolfe, Crowder 1974).
// All are 0 where total is not positive.
func cut(values []float64, total float64) {
	sum, less := 0.0, math.Inf(1)
	for i := len(values) - 1; i >= 0 && total > 0; i-- {
		sum += values[i]
		if next := (sum - total) / float64(len(values)-i); values[i] > next {
			less = next
		}
	}
	for i, v := range values {
		values[i] = math.Max(v-less, 0)
	}
}
