package train

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"

	"weir/train/net"
	"weir/train/parallel"
)

// shardCritic is a critic that sees one shard. Its state is a function of the
// shard, the seed and the generators released so far.
type shardCritic struct {
	*descent
	shard []int32
	id    int
}

// criticLane is the buffers of one worker.
type criticLane struct {
	c       GSWGANConfig
	batch   int
	triples *triples
	gen     *generator
	throw   *descent // the throw-away generator of the critic at hand
	start   *net.Net
	grad    []float32
	index   []int32
}

func newCriticLane(c GSWGANConfig, batch int, critic, gen *net.Net) *criticLane {
	return &criticLane{c: c, batch: batch, triples: newTriples(critic, batch), gen: newGenerator(gen, batch),
		throw: newDescent(c.Generator, make([]float32, gen.Params())), start: gen,
		grad: make([]float32, critic.Params()), index: make([]int32, batch)}
}

// train moves the critic once against the generator of weights w. An empty shard
// leaves it as it is. A batch is drawn from the shard with replacement: no
// accounting rests on it, since the shard is the unit that the release protects.
func (l *criticLane) train(k *shardCritic, w []float32, rows *Rows, r *rand.Rand) {
	if len(k.shard) == 0 {
		return
	}
	for i := range l.index {
		l.index[i] = k.shard[r.IntN(len(k.shard))]
	}
	fake, real := l.gen.judged(w, l.batch, r), l.index
	if l.c.Worst != nil { // as many of both
		fake, real = l.c.Worst.spared(fake), l.c.Worst.survivors(real)
	}
	l.triples.run(k.w, fake, func(m net.Matrix) { rows.Gather(m, real) }, l.c.Penalty, r, nil)
	clear(l.grad)
	l.triples.Accumulate(l.grad, nil)
	k.step(l.grad, 1/float64(len(real)))
}

// warmUp gives a critic its WarmSteps steps against a throw-away generator of its own. That learns from
// it after every CriticSteps of them, without noise: like the critic it is a
// function of the shard, and nobody ever sees it.
func (l *criticLane) warmUp(k *shardCritic, rows *Rows) {
	r := public(l.c.Seed, "warm start", uint64(k.id))
	copy(l.throw.w, l.c.start(l.start, r))
	clear(l.throw.m)
	clear(l.throw.v)
	l.throw.t = 0
	l.warmAgainst(l.throw, k, rows, r)
}

// warmAgainst warms up, as warmUp does, against the generator throw, from where it is.
func (l *criticLane) warmAgainst(throw *descent, k *shardCritic, rows *Rows, r *rand.Rand) {
	for t := range l.c.WarmSteps {
		l.train(k, throw.w, rows, r)
		if (t+1)%l.c.CriticSteps == 0 {
			l.moveThrowaway(throw, k, r)
		}
	}
}

func (l *criticLane) moveThrowaway(throw *descent, k *shardCritic, r *rand.Rand) {
	b := l.batch
	fake := l.gen.sample(throw.w, b, r)
	l.triples.Input(b).CopyFrom(fake)
	y := l.triples.Forward(k.w, net.Mode{Train: true, Frozen: true, Rand: r})
	net.Wasserstein(l.triples.OutGrad(), y, -1, nil)
	l.c.Worst.silence(l.triples.OutGrad(), fake, noLabel)
	l.gen.descend(throw, l.triples.BackwardInput(k.w, 0), 1/l.c.Worst.less(float64(b)))
}

// warmBlock is how many critics start between two checkpoints.
const warmBlock = 64

// warmStart gives every critic that lacks it its warm start, side by side.
func (l *gsLoop) warmStart(ctx context.Context, h Hooks) error {
	if l.c.WarmSteps == 0 {
		l.warm = len(l.critics)
	}
	for l.warm < len(l.critics) {
		if err := l.warmNext(ctx, h); err != nil {
			return err
		}
		if h.Checkpoint != nil && h.CheckpointEvery > 0 {
			if err := h.Checkpoint(l.state.encode()); err != nil {
				return err
			}
		}
	}
	return nil
}

// warmNext starts the next block of critics, and says after each how many are done: any
// of them may be, so that this tells nothing of a shard.
func (l *gsLoop) warmNext(ctx context.Context, h Hooks) error {
	block := l.critics[l.warm:min(l.warm+warmBlock, len(l.critics))]
	var done sync.Mutex
	parallel.Do(l.warmLanes(), len(block), func(worker, i int) {
		if ctx.Err() != nil {
			return
		}
		l.warmOne(l.lanes[worker], block[i])
		done.Lock()
		defer done.Unlock()
		l.warm++
		if h.Progress != nil {
			h.Progress(l.progress(0))
		}
	})
	return ctx.Err()
}

// warmLanes returns how many critics start side by side: one where each begins with the generator that the last one
// left.
func (l *gsLoop) warmLanes() int {
	if l.shared != nil {
		return 1
	}
	return len(l.lanes)
}

func (l *gsLoop) warmOne(lane *criticLane, k *shardCritic) {
	if l.shared == nil {
		lane.warmUp(k, l.rows)
		return
	}
	lane.warmAgainst(l.shared, k, l.rows, public(l.c.Seed, "warm start", uint64(k.id)))
}

// trainScheduled gives the critics whose turn it is at step t CriticSteps steps each.
func (l *gsLoop) trainScheduled(t int) {
	count := min(l.c.Scheduled, len(l.critics))
	l.trainEach(count, func(i int) (critic, turn int) { return (t*count + i) % len(l.critics), t*count + i })
}

// trainDrawn trains the critics that step t queries, CriticSteps steps each.
func (l *gsLoop) trainDrawn(t int) {
	output := slices.Clone(l.release.asked)
	slices.Sort(output)
	output = slices.Compact(output)
	l.trainEach(len(output), func(i int) (critic, turn int) { return output[i], t*l.q.BatchSize + i })
}

// trainEach trains count critics side by side; a turn is a critic's public randomness.
func (l *gsLoop) trainEach(count int, of func(i int) (critic, turn int)) {
	parallel.Do(len(l.lanes), count, func(worker, i int) {
		k, turn := of(i)
		r := public(l.c.Seed, "turn", uint64(turn))
		for range l.c.CriticSteps {
			l.lanes[worker].train(l.critics[k], l.generator.w, l.rows, r)
		}
	})
}
