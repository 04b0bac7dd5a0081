package pipelinetest

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"weir/pipeline"
	"weir/pipeline/neighbour"
	"weir/privacy"
)

// stillUses is how many uses of a sampled mechanism are compared at least, over so many
// keys; mostly is the largest share of uses that may see a unit for that to say anything.
const (
	stillUses = 48
	mostly    = 0.6
)

// checkStill checks that a use of a sampled mechanism that drew the changed unit moves, and any
// other has the same input to the bit. A number that each row's contribution depends on,
// such as a weight by the private row count, moves every use, by so little that no
// sensitivity is reached: only that it moves at all tells of it. Which uses drew the unit
// is secret here too, so they are counted: of n right uses at rate p more than k move
// with the probability of a binomial.
func checkStill(t reporter, c Case) {
	if _, plan, err := c.planned(); err != nil || !slices.ContainsFunc(plan, func(p pipeline.Planned) bool {
		return seen(p.Value, c.adjacency(), float64(max(1, p.Group))) <= mostly
	}) {
		return
	}
	for _, n := range stillNeighbours(c) {
		counts := map[string]*stillness{}
		for key := byte(1); key <= most && lacks(counts); key++ {
			tally(counts, n, key)
		}
		for _, spend := range slices.Sorted(maps.Keys(counts)) {
			if s := counts[spend]; s.p() < falseAlarm {
				t.Errorf("%s: %d of %d uses of %s move, each sees the unit with probability %.3g: they depend on rows that they "+
					"did not draw, or on how many there are",
					n.what, s.moved, s.uses, spend, s.rate)
			}
		}
	}
}

// stillNeighbours change a unit after all others, so that these keep their coins.
func stillNeighbours(c Case) (list []couple) {
	for _, port := range c.tablePorts() {
		in := c.In[port]
		if in.Header.Class == pipeline.Private && in.Rows.NumRows() > 0 {
			v := variants(in)[0]
			list = append(list, couple{what: port + ": " + v.what, base: c.edited(port, v.base),
				other: c.edited(port, v.other)})
		}
	}
	return list
}

// stillness counts the uses of one mechanism, each of which sees a unit at rate.
type stillness struct {
	rate        float64
	uses, moved int
}

// p returns the chance that correct uses move at least as often.
func (s *stillness) p() float64 {
	if s.moved == 0 || s.rate > mostly {
		return 1
	}
	b := distuv.Binomial{N: float64(s.uses), P: s.rate}
	return b.Survival(float64(s.moved - 1))
}

// lacks says that another key is needed: there is a sampled mechanism of few uses, or none
// has been seen yet.
func lacks(counts map[string]*stillness) bool {
	for _, s := range counts {
		if s.rate <= mostly && s.uses < stillUses {
			return true
		}
	}
	return len(counts) == 0
}

// tally replays a pair under a key and counts which uses move.
func tally(counts map[string]*stillness, n couple, key byte) {
	before := n.base.recorded(key)
	replay := before.mechanisms.Neighbour()
	observe(context.Background(), n.other, manner{key: key, probe: replay})
	for _, place := range before.mechanisms.Uses() {
		previous, _, _ := before.mechanisms.Use(place)
		current, _, ok := replay.Use(place)
		if !ok {
			continue // checkNeighbours says so
		}
		a := n.base.adjacency()
		if counts[place.Spend] == nil {
			counts[place.Spend] = &stillness{rate: seen(previous.Mechanism, a, neighbour.Group(before.ledger.Plan, place.Spend))}
		}
		s := counts[place.Spend]
		s.uses++
		if m, err := neighbour.Moved(previous.Mechanism.Sensitivity(a), previous.In, current.In); err != nil || m > 0 {
			s.moved++
		}
	}
}

// seen bounds how often one use sees a unit of the given number of rows, all of which have coins of
// their own; 1 for a mechanism that samples nothing.
func seen(m privacy.Mechanism, a privacy.Adjacency, group float64) float64 {
	e, draws := m.Event(a), group
	if r, ok := e.(privacy.Repeated); ok && m.Uses() > 0 {
		e, draws = r.Event, group*math.Ceil(float64(r.Count)/float64(m.Uses()))
	}
	rate := 1.0
	switch e := e.(type) {
	case privacy.PoissonSampled:
		rate = e.SamplingRate
	case privacy.SampledWithoutReplacement:
		rate = float64(e.SampleSize) / float64(e.Population)
	}
	return 1 - math.Pow(1-rate, draws)
}

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
	in, out, err := neighbour.Numbers(x.In, x.Out)
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
		list = append(list, fmt.Sprintf("the noise has not the planned deviation %.6g: %.6g over %d numbers (p = %.2g)",
			r.mechanism.Deviation(), r.deviation(), r.count(), p))
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

// scaleP returns the two-sided p-value of the planned scale: by the sum of squares of
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
