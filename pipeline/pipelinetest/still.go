package pipelinetest

import (
	"context"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"weir/pipeline"
	"weir/privacy"
)

// stillUses is how many uses of a sampled mechanism are compared at least, over so many
// keys; mostly is the largest share of uses that may see a unit for that to say anything.
const (
	stillUses = 48
	mostly    = 0.6
)

// checkStill: a use of a sampled mechanism that drew the changed unit moves, and any
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
				t.Errorf("%s: %d of %d uses of %s move, each sees the unit with probability %.3g: they depend on rows that they did not draw, or on how many there are",
					n.what, s.moved, s.uses, spend, s.rate)
			}
		}
	}
}

// stillNeighbours change a unit after all others, so that these keep their coins.
func stillNeighbours(c Case) (list []neighbour) {
	for _, port := range c.tablePorts() {
		in := c.In[port]
		if in.Header.Class == pipeline.Private && in.Rows.NumRows() > 0 {
			v := variants(in)[0]
			list = append(list, neighbour{what: port + ": " + v.what, base: c.edited(port, v.base), other: c.edited(port, v.other)})
		}
	}
	return list
}

// stillness counts the uses of one mechanism, each of which sees a unit at rate.
type stillness struct {
	rate        float64
	uses, moved int
}

// p is how often right uses move so often or more.
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
func tally(counts map[string]*stillness, n neighbour, key byte) {
	before := n.base.recorded(key)
	replay := before.mechanisms.Neighbour()
	observe(context.Background(), n.other, manner{key: key, probe: replay})
	for at, was := range before.mechanisms.uses {
		now, ok := replay.uses[at]
		if !ok {
			continue // checkNeighbours says so
		}
		a := n.base.adjacency()
		if counts[at.Spend] == nil {
			counts[at.Spend] = &stillness{rate: seen(was.Mechanism, a, groupOf(before.ledger.Plan, at.Spend))}
		}
		s := counts[at.Spend]
		s.uses++
		if m, err := Moved(was.Mechanism.Sensitivity(a), was.In, now.In); err != nil || m > 0 {
			s.moved++
		}
	}
}

// seen bounds how often one use sees a unit of so many rows, all of which have coins of
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
