package train

import (
	"context"
	"errors"
	"fmt"
	"math"

	"weir/privacy"
	"weir/privacy/noise"
	"weir/train/net"
)

// GSWGANConfig is a generator that learns from critics on disjoint shards through
// the noised gradients at its output rows (Chen et al. 2020, GS-WGAN), in the two
// variants that ACCOUNTING sections 3.5 and head prove.
//
// NoiseMultiplier is the noise's standard deviation over 2*MaxGradNorm for query
// sample; over 2*MaxGradNorm*sqrt(BatchSize)/critics for query mean: over what
// one shard can change in one release, whatever the adjacency.
type GSWGANConfig struct {
	MaxGradNorm     float64   `json:"max_grad_norm"`
	NoiseMultiplier float64   `json:"noise_multiplier"`
	Steps           int       `json:"steps"`        // of the generator
	BatchSize       int       `json:"batch_size"`   // rows of a critic's batch, and generated rows a step
	Query           Query     `json:"query"`        // sample or mean
	WarmSteps       int       `json:"warm_steps"`   // of each critic against a throw-away generator
	CriticSteps     int       `json:"critic_steps"` // of a scheduled critic at each generator step
	Scheduled       int       `json:"scheduled"`    // critics trained at each step, in turn
	Penalty         float64   `json:"penalty"`
	Critic          Optimiser `json:"critic"`
	Generator       Optimiser `json:"generator"`
	Average         float64   `json:"average"` // decay of the average of the generator's iterates; 0 is none
	Seed            uint64    `json:"seed"`
}

// Query says who judges a generated row.
type Query string

const (
	QuerySample Query = "sample" // one critic, drawn for each row secretly and uniformly
	QueryMean   Query = "mean"   // all critics, averaged
)

// Validate names every field that is out of range.
func (c GSWGANConfig) Validate() error {
	errs := []error{c.Critic.Validate(), c.Generator.Validate()}
	check := func(ok bool, name string, value any, need string) {
		if !ok {
			errs = append(errs, fmt.Errorf("%s: is %v, must be %s", name, value, need))
		}
	}
	check(c.MaxGradNorm > 0 && !math.IsInf(c.MaxGradNorm, 1), "max_grad_norm", c.MaxGradNorm, "a finite number above 0")
	check(c.NoiseMultiplier >= 0 && !math.IsInf(c.NoiseMultiplier, 1), "noise_multiplier", c.NoiseMultiplier, "a finite number of at least 0")
	check(c.Steps >= 0, "steps", c.Steps, "at least 0")
	check(c.BatchSize >= 1, "batch_size", c.BatchSize, "at least 1")
	check(c.Query == QuerySample || c.Query == QueryMean, "query", c.Query, "sample or mean")
	check(c.WarmSteps >= 0, "warm_steps", c.WarmSteps, "at least 0")
	check(c.CriticSteps >= 1, "critic_steps", c.CriticSteps, "at least 1")
	check(c.Scheduled >= 1, "scheduled", c.Scheduled, "at least 1")
	check(c.Penalty >= 0, "penalty", c.Penalty, "at least 0")
	check(c.Average >= 0 && c.Average < 1, "average", c.Average, "at least 0 and below 1")
	return errors.Join(errs...)
}

// Event is what Steps steps with this many critics release, for a table that is
// shards(critics) under the stated adjacency.
//
// sample: each of the Steps*BatchSize rows is one draw of a critic, without
// replacement and with its own coin, and a Gaussian release whose sensitivity is
// 2*MaxGradNorm. mean: each step is one Gaussian release; changing one shard moves
// one critic's gradients by up to 2*MaxGradNorm a row under either adjacency, so
// the multiplier is doubled where the accountant is going to halve it.
func (c GSWGANConfig) Event(a privacy.Adjacency, critics int) privacy.Event {
	steps := int64(c.Steps)
	if c.Query == QuerySample {
		return privacy.Repeated{Count: steps * int64(c.BatchSize), Event: privacy.SampledWithoutReplacement{
			SampleSize: 1, Population: int64(critics), Event: privacy.Gaussian{NoiseMultiplier: c.NoiseMultiplier}}}
	}
	multiplier := c.NoiseMultiplier
	if a == privacy.ReplaceOne {
		multiplier *= 2
	}
	return privacy.Repeated{Count: steps, Event: privacy.Gaussian{NoiseMultiplier: multiplier}}
}

// GSWGAN trains a generator against critics, one for each shard, a list of
// positions in rows; it returns the generator's weights, averaged where Average
// says so.
//
// Input: rows with stability shards(k). A critic reads its own shard only, and is
// trained on a public schedule: WarmSteps alone against a generator of its own,
// then in turn, never because it was asked. Mechanism: each step's gradients of
// the scores at the generated rows, clipped row by row to MaxGradNorm, noised on
// the lattice. Everything else is public randomness and post-processing. Guarantee:
// that of c.Event for the generators of all steps together. The critics are
// private and are not returned. source is what was bought with the event.
func GSWGAN(ctx context.Context, c GSWGANConfig, critic, gen *net.Net, rows *Rows, shards [][]int32, source *noise.Source, h Hooks) ([]float32, error) {
	l, err := newGSLoop(c, critic, gen, rows, shards, source)
	if err == nil {
		err = l.state.decode(h.Resume)
	}
	if err != nil {
		return nil, fmt.Errorf("gs_wgan: %w", err)
	}
	if err := l.warmStart(ctx, h); err != nil {
		return nil, err
	}
	for l.generator.t < c.Steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		report := h.reports(l.generator.t+1, c.Steps)
		loss := l.step(l.generator.t, report)
		if report {
			h.Progress(Progress{Phase: "generator", Step: l.generator.t, Steps: c.Steps, Loss: loss})
		}
		if err := h.save(l.generator.t, &l.state); err != nil {
			return nil, err
		}
	}
	return l.average.of(l.generator), nil
}

type gsLoop struct {
	c         GSWGANConfig
	rows      *Rows
	critics   []*shardCritic
	lanes     []*criticLane // one for each worker
	release   *release
	gen       *generator
	generator *descent
	average   *runningMean
	warm      int // critics that have had their warm start
	state     state
}

func newGSLoop(c GSWGANConfig, critic, gen *net.Net, rows *Rows, shards [][]int32, source *noise.Source) (*gsLoop, error) {
	if err := errors.Join(c.Validate(), critic.Penalisable(), checkShards(rows.Len(), shards)); err != nil {
		return nil, err
	}
	if critic.In() != rows.Width() || gen.Out() != rows.Width() {
		return nil, fmt.Errorf("widths are rows %d, generator's output %d, critic's input %d; they must be equal", rows.Width(), gen.Out(), critic.In())
	}
	if source == nil {
		return nil, errors.New("source: is missing; pay for the event first")
	}
	l := &gsLoop{c: c, rows: rows, gen: newGenerator(gen, c.BatchSize),
		generator: newDescent(c.Generator, gen.Init(public(c.Seed, "generator", 0)))}
	l.state.counters = []*int{&l.warm}
	l.average = newRunningMean(c.Average, l.generator.w)
	l.state.add(l.generator)
	l.state.addAverage(l.average)
	for k, shard := range shards {
		d := newDescent(c.Critic, critic.Init(public(c.Seed, "critic", uint64(k))))
		l.critics = append(l.critics, &shardCritic{descent: d, shard: shard, id: k})
		l.state.add(d)
	}
	for range workers(len(shards)) {
		l.lanes = append(l.lanes, newCriticLane(c, critic, gen))
	}
	var err error
	l.release, err = newRelease(c, critic, len(shards), source)
	return l, err
}

// checkShards refuses shards that overlap or point outside the table.
func checkShards(n int, shards [][]int32) error {
	if len(shards) == 0 {
		return errors.New("shards: there are none, must be at least 1")
	}
	seen := make([]bool, n)
	for _, shard := range shards {
		for _, row := range shard {
			if row < 0 || int(row) >= n || seen[row] {
				return errors.New("shards: a row is outside the table or in two shards; shards must be disjoint")
			}
			seen[row] = true
		}
	}
	return nil
}

// step trains the critics whose turn it is and moves the generator once.
func (l *gsLoop) step(t int, wantLoss bool) float64 {
	l.trainScheduled(t)
	fake := l.gen.sample(l.generator.w, l.c.BatchSize, public(l.c.Seed, "step", uint64(t)))
	dx, loss := l.release.query(l.critics, fake, t, wantLoss)
	l.gen.descend(l.generator, dx, 1/float64(l.c.BatchSize))
	l.average.update(l.generator.w)
	return loss
}
