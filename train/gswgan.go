package train

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"weir/privacy"
	"weir/train/net"
	"weir/train/parallel"
)

// GSWGANConfig is how GSWGAN trains on what the paid CriticQuery releases.
type GSWGANConfig struct {
	WarmSteps   int       `json:"warm_steps"`   // of each critic against a throw-away generator
	CriticSteps int       `json:"critic_steps"` // of a critic that a generator step trains
	Scheduled   int       `json:"scheduled"`    // critics trained at each step, in turn; not used under schedule drawn
	Penalty     float64   `json:"penalty"`
	Critic      Optimiser `json:"critic"`
	Generator   Optimiser `json:"generator"`
	Average     float64   `json:"average"`         // decay of the average of the generator's iterates; 0 is none
	NormalStart bool      `json:"normal_start"`    // all weights begin as standard normals
	Every       int       `json:"every"`           // steps between generators that are kept; 0 keeps the last alone
	Share       bool      `json:"share,omitempty"` // the warm start has one throw-away generator for all critics; under schedule drawn alone
	Seed        uint64    `json:"seed"`
	Worst       *Worst    `json:"-"` // rows that batches leave out: of a critic's own batch any, since its shard is the unit
}

// Iterate is the generator after a step.
type Iterate struct {
	Step    int
	Weights []float32
}

// Validate names every field that is out of range.
func (c GSWGANConfig) Validate() error {
	errs := []error{c.Critic.Validate(), c.Generator.Validate()}
	check := checking(&errs)
	check(c.WarmSteps >= 0, "warm_steps", c.WarmSteps, "at least 0")
	check(c.CriticSteps >= 1, "critic_steps", c.CriticSteps, "at least 1")
	check(c.Scheduled >= 1, "scheduled", c.Scheduled, "at least 1")
	check(c.Penalty >= 0, "penalty", c.Penalty, "at least 0")
	check(c.Every >= 0, "every", c.Every, "at least 0")
	check(c.Average >= 0 && c.Average < 1, "average", c.Average, "at least 0 and below 1")
	return errors.Join(errs...)
}

// GSWGAN trains a generator against critics, one for each shard, a list of
// positions in rows; it returns the generator after every Every-th step and, as the
// last, after all of them, averaged where Average says so.
//
// Input: rows with stability shards(k). A critic reads its own shard only: WarmSteps
// alone against a generator of its own, then in turn (schedule public, never because it
// was asked) or each time that it is drawn, right before it is asked (schedule drawn).
// Mechanism: each step's gradients of the scores at the generated rows, clipped row by
// row to MaxGradNorm, noised on the lattice. Who is asked comes from the paid secret
// source; everything else is public randomness and post-processing. Guarantee: the guarantee of
// the paid CriticQuery for the generators of all steps together, so that keeping
// several costs nothing. The critics are private and are not returned.
//
// Critics with batch_norm mix the rows of a batch. Of the rows of one shard they may: what the shard can change is
// the gradient of its critic at each generated row, anywhere in the clip ball, whatever the critic is. Of the
// generated rows they may where one critic judges all of a step (queries batch and mean): a row of the
// release then depends on that critic and on released generators alone. Under query sample the gradient at a row would
// depend on which other rows drew the same critic, so that draws are not one release each; it is refused.
//
// Share passes one throw-away generator from critic to critic, as algorithm 1 of the Turku thesis does. What a shard
// taught it then reaches every later critic, so that a shard may change all of them. The event of schedule drawn still
// holds: it takes no amplification, and a gradient moves inside its clip ball whoever is asked. Under schedule public
// it would be false, since query mean counts one critic as changed, and the others amplify by the draw of that one; so
// it is refused there.
//
// Worst drops rows of a critic's batch, real and generated ones, inside its shard, where a function
// of the shard may be any; of the rows that are asked about it drops gradients once they have
// their noise. So nothing of it is charged, whatever the rule.
func GSWGAN(ctx context.Context, c GSWGANConfig, critic, gen *net.Net, rows *Rows, shards [][]int32,
	paid *privacy.Handle, h Hooks) ([]Iterate, error) {
	l, err := newGSLoop(c, critic, gen, rows, shards, paid)
	if err == nil {
		err = l.state.resume(h, paid, &l.generator.t)
	}
	if err != nil {
		return nil, fmt.Errorf("gs_wgan: %w", err)
	}
	h.resumed(l.progress(0))
	if err := l.warmStart(ctx, h); err != nil {
		return nil, err
	}
	for l.generator.t < l.q.Steps {
		if err := l.advance(ctx, h); err != nil {
			return nil, err
		}
	}
	return l.kept, nil
}

// advance takes one step of the generator and reports it to the hooks.
func (l *gsLoop) advance(ctx context.Context, h Hooks) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	report := h.reports(l.generator.t+1, l.q.Steps)
	loss, err := l.step(l.generator.t, report)
	if err != nil {
		return err
	}
	l.keep()
	if report {
		h.Progress(l.progress(loss))
	}
	return h.save(l.generator.t, &l.state)
}

type gsLoop struct {
	c         GSWGANConfig
	q         CriticQuery
	rows      *Rows
	critics   []*shardCritic
	lanes     []*criticLane // one for each worker
	release   *release
	gen       *generator
	generator *descent
	average   *runningMean
	kept      []Iterate // by step; weights of steps that are to come are zero
	shared    *descent  // the throw-away generator of all critics; nil where each has its own
	warm      int       // critics that have had their warm start
	starts    int       // the work of all warm starts, in steps of the generator
	state     state
}

// newGSLoop takes every parameter of the mechanism from what was paid for.
func newGSLoop(c GSWGANConfig, critic, gen *net.Net, rows *Rows, shards [][]int32, paid *privacy.Handle) (*gsLoop,
	error) {
	q, err := paidQuery(paid)
	if err == nil {
		err = errors.Join(c.Validate(), critic.Penalisable(), separateForSample(q, critic), sharedWhenDrawn(c, q),
			checkShards(rows.Len(), shards), c.Worst.check(rows.Len(), float64(q.BatchSize), q.BatchSize))
	}
	if err != nil {
		return nil, err
	}
	if critic.In() != rows.Width() || gen.Out() != rows.Width() || q.Columns != rows.Width() || q.Critics != len(shards) {
		return nil, fmt.Errorf("widths are rows %d, generator's output %d, critic's input %d, paid %d; shards are %d, paid "+
			"%d; they must be equal",
			rows.Width(), gen.Out(), critic.In(), q.Columns, len(shards), q.Critics)
	}
	l := &gsLoop{c: c, q: q, rows: rows, gen: newGenerator(gen, q.BatchSize),
		generator: newDescent(c.Generator, c.start(gen, public(c.Seed, "generator", 0)))}
	l.starts = c.starts(q)
	l.state.counters = []*int{&l.warm}
	l.average = newRunningMean(c.Average, l.generator.w)
	l.state.add(l.generator)
	l.state.addAverage(l.average)
	l.keepRoom()
	if c.Share {
		l.shared = newDescent(c.Generator, c.start(gen, public(c.Seed, "throw-away", 0)))
		l.state.add(l.shared)
	}
	for k, shard := range shards {
		d := newDescent(c.Critic, c.start(critic, public(c.Seed, "critic", uint64(k))))
		l.critics = append(l.critics, &shardCritic{descent: d, shard: shard, id: k})
		l.state.add(d)
	}
	for range parallel.Workers(len(shards)) {
		l.lanes = append(l.lanes, newCriticLane(c, q.BatchSize, critic, gen))
	}
	l.release, err = newRelease(q, critic, paid)
	return l, err
}

// separateForSample refuses a critic whose gradient at a row depends on other rows, where those
// follow from secret draws.
func separateForSample(q CriticQuery, critic *net.Net) error {
	if _, err := critic.PerExample(); q.Query == QuerySample && err != nil {
		return fmt.Errorf("query: is sample, which draws a critic for each row: %w", err)
	}
	return nil
}

// sharedWhenDrawn refuses a throw-away generator for all critics where the price counts on one critic a shard.
func sharedWhenDrawn(c GSWGANConfig, q CriticQuery) error {
	if c.Share && q.Schedule != ScheduleDrawn {
		return fmt.Errorf("share: is true with schedule %s, whose price counts one critic as changed: a shard reaches "+
			"every later critic through the generator; must be false", q.Schedule)
	}
	return nil
}

func paidQuery(paid *privacy.Handle) (CriticQuery, error) {
	if paid == nil {
		return CriticQuery{}, errors.New("paid: is missing; open the planned mechanism first")
	}
	q, ok := paid.Mechanism().(CriticQuery)
	if !ok {
		return q, fmt.Errorf("paid: is %T, must be a query of critics: %w", paid.Mechanism(), privacy.ErrUses)
	}
	return q, q.Check()
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

// step trains the critics of step t and moves the generator once.
func (l *gsLoop) step(t int, wantLoss bool) (loss float64, err error) {
	if err := l.release.begin(t); err != nil {
		return 0, err
	}
	if l.q.Schedule == ScheduleDrawn {
		l.trainDrawn(t)
	} else {
		l.trainScheduled(t)
	}
	fake := l.gen.sample(l.generator.w, l.q.BatchSize, public(l.c.Seed, "step", uint64(t)))
	dx, loss := l.release.query(l.critics, fake, wantLoss)
	l.c.Worst.silence(dx, fake, noLabel)
	l.gen.descend(l.generator, dx, 1/l.c.Worst.less(float64(l.q.BatchSize)))
	l.average.update(l.generator.w)
	return loss, nil
}

// What a warm start costs beside a step of the generator, by passes of a batch through a
// net. They are for progress alone: nothing that is released depends on them.
const (
	trainPasses = 4 // of a critic: real, generated and mixed rows, and the gradient of the penalty
	movePasses  = 3 // of a generator: its rows, their scores, and its own gradient
)

// starts returns the work of all warm starts, counted in steps of the generator, from public
// settings: warm starts of a critic whose shard is empty count too.
func (c GSWGANConfig) starts(q CriticQuery) int {
	if c.WarmSteps == 0 {
		return 0
	}
	trained, output := min(c.Scheduled, q.Critics), 1
	switch {
	case q.Query == QueryMean:
		output = q.Critics
	case q.Schedule == ScheduleDrawn && q.Query == QuerySample:
		trained = min(q.BatchSize, q.Critics)
	case q.Schedule == ScheduleDrawn:
		trained = 1
	}
	step := float64(trainPasses*float64(trained)*float64(c.CriticSteps)) + float64(output) + movePasses
	start := float64(trainPasses*float64(c.WarmSteps)) + float64(movePasses*float64(c.WarmSteps/c.CriticSteps))
	return int(min(math.Ceil(float64(q.Critics)*start/step), 1<<50))
}

// progress returns where the loop stands, of all warm starts and steps together.
func (l *gsLoop) progress(loss float64) Progress {
	p := Progress{Phase: "generator", Step: l.starts + l.generator.t, Steps: l.starts + l.q.Steps, Loss: loss}
	if l.warm < len(l.critics) || l.generator.t == 0 && l.c.WarmSteps > 0 {
		p.Phase, p.Step = "warm_start", int(float64(l.starts)*float64(l.warm)/float64(len(l.critics)))
	}
	return p
}

// start gives a net its first weights.
func (c GSWGANConfig) start(n *net.Net, r *rand.Rand) []float32 {
	if c.NormalStart {
		return n.InitNormal(r)
	}
	return n.Init(r)
}

// keepRoom makes room for the generators that will be kept; they are a part of the
// checkpoint.
func (l *gsLoop) keepRoom() {
	for t := l.c.Every; l.c.Every > 0 && t < l.q.Steps; t += l.c.Every {
		l.kept = append(l.kept, Iterate{Step: t})
	}
	l.kept = append(l.kept, Iterate{Step: l.q.Steps})
	for i := range l.kept {
		l.kept[i].Weights = make([]float32, len(l.generator.w))
		l.state.vectors = append(l.state.vectors, l.kept[i].Weights)
	}
}

// keep copies the generator where its step is one to keep. Released generators are
// functions of the noised gradients, so that any number of them costs nothing.
func (l *gsLoop) keep() {
	for _, k := range l.kept {
		if k.Step == l.generator.t {
			copy(k.Weights, l.average.average(l.generator))
		}
	}
}

// public returns the public randomness of one draw site: the seed, what it is
// for, and an index such as a step. Different sites are independent streams.
func public(seed uint64, purpose string, index uint64) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	return rand.New(rand.NewPCG(mix(seed)^h.Sum64(), mix(index+1)))
}

// mix returns the finaliser of splitmix64 (Steele, Lea, Flood 2014): nearby seeds and
// indices become unrelated words.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
