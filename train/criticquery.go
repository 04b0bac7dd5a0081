package train

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"weir/privacy"
	"weir/privacy/noise"
	"weir/train/internal/kernel"
	"weir/train/net"
	"weir/train/parallel"
)

// CriticQuery is the mechanism of GSWGAN (Chen et al. 2020): at each of Steps steps,
// BatchSize generated rows are judged by Critics critics on disjoint shards, and the
// gradients at these rows, each clipped to MaxGradNorm, are noised.
//
// Input: critics, each a function of its own shard, of public history and, under
// schedule drawn, of the draws; one changed shard makes its critic any other.
// Adjacency: either; a changed shard moves a gradient anywhere in the clip ball, by
// up to 2*MaxGradNorm. NoiseMultiplier is the noise's standard deviation over
// 2*MaxGradNorm for queries batch and sample; over
// 2*MaxGradNorm*sqrt(BatchSize)/Critics, what one shard can change in one release,
// for query mean. Guarantee: the guarantee of Event (docs/accounting.md section 3.5, for
// both schedules).
type CriticQuery struct {
	MaxGradNorm     float64  `json:"max_grad_norm"`
	NoiseMultiplier float64  `json:"noise_multiplier"`
	Steps           int      `json:"steps"`      // of the generator
	BatchSize       int      `json:"batch_size"` // rows of a critic's batch, and generated rows a step
	Columns         int      `json:"columns"`    // numbers in an encoded row
	Critics         int      `json:"critics"`
	Query           Query    `json:"query"`    // batch, sample or mean
	Schedule        Schedule `json:"schedule"` // public, or drawn for queries batch and sample
}

// Query says who judges a generated row.
type Query string

const (
	QueryBatch  Query = "batch"  // one critic, drawn for all rows of a step secretly and uniformly
	QuerySample Query = "sample" // one critic, drawn for each row secretly and uniformly
	QueryMean   Query = "mean"   // all critics, averaged
)

// Schedule says which critics are trained at a step.
type Schedule string

const (
	SchedulePublic Schedule = "public" // in turn
	ScheduleDrawn  Schedule = "drawn"  // those that the step asks, right before it asks them
)

// Check names every field that is out of range.
func (q CriticQuery) Check() error {
	var errs []error
	check := checking(&errs)
	check(q.MaxGradNorm > 0 && !math.IsInf(q.MaxGradNorm, 1), "max_grad_norm", q.MaxGradNorm, "a finite number above 0")
	check(q.NoiseMultiplier >= 0 && !math.IsInf(q.NoiseMultiplier, 1), "noise_multiplier", q.NoiseMultiplier,
		"a finite number of at least 0")
	check(q.Steps >= 0, "steps", q.Steps, "at least 0")
	check(q.BatchSize >= 1, "batch_size", q.BatchSize, "at least 1")
	check(q.Columns >= 1, "columns", q.Columns, "at least 1")
	check(q.Critics >= 1, "critics", q.Critics, "at least 1")
	check(q.Query == QueryBatch || q.Query == QuerySample || q.Query == QueryMean, "query", q.Query,
		"batch, sample or mean")
	check(q.Schedule == SchedulePublic || q.Schedule == ScheduleDrawn && q.Query != QueryMean, "critic_schedule",
		q.Schedule,
		"public or drawn; public for query mean, which asks every critic")
	if len(errs) == 0 {
		_, _, err := q.lattice()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Event returns what all steps release.
//
// Under schedule public the coins of a step are fresh whatever was released before.
// sample: each of the Steps*BatchSize rows is one draw of a critic, without
// replacement and with its own coin, and a Gaussian release whose sensitivity is
// 2*MaxGradNorm. batch: the rows of a step share their coin, so they are one
// release, of sensitivity 2*MaxGradNorm*sqrt(BatchSize), and one draw. mean: each
// step is one Gaussian release.
//
// Under schedule drawn the critics that were not drawn carry earlier coins, so that
// amplification does not compose (W37). The event takes none: it gives every draw
// away and lets the changed shard be drawn every time. It is a bound, too weak for any
// use; what the papers charge is not.
func (q CriticQuery) Event(a privacy.Adjacency) privacy.Event {
	steps, rows := int64(q.Steps), int64(q.BatchSize)
	switch {
	case q.Schedule == ScheduleDrawn:
		return q.repeated(steps*rows, q.NoiseMultiplier, a)
	case q.Query == QuerySample:
		return privacy.Repeated{Count: steps * rows, Event: q.oneOfCritics(q.NoiseMultiplier)}
	case q.Query == QueryBatch:
		return privacy.Repeated{Count: steps, Event: q.oneOfCritics(q.NoiseMultiplier / math.Sqrt(float64(rows)))}
	}
	return q.repeated(steps, q.NoiseMultiplier, a)
}

func (q CriticQuery) oneOfCritics(multiplier float64) privacy.Event {
	return privacy.SampledWithoutReplacement{SampleSize: 1, Population: int64(q.Critics),
		Event: privacy.Gaussian{NoiseMultiplier: multiplier}}
}

// repeated returns Gaussian releases of all critics. Changing one shard moves one critic's
// gradients by up to 2*MaxGradNorm a row under either adjacency, so the multiplier is
// doubled where the accountant is going to halve it.
func (q CriticQuery) repeated(count int64, multiplier float64, a privacy.Adjacency) privacy.Event {
	if a == privacy.ReplaceOne {
		multiplier *= 2
	}
	return privacy.Repeated{Count: count, Event: privacy.Gaussian{NoiseMultiplier: multiplier}}
}

// Sensitivity returns the sensitivity of the clipped gradients of a step: row by row for queries
// batch and sample; for query mean the sensitivity of their sum over critics.
func (q CriticQuery) Sensitivity(privacy.Adjacency) privacy.Sensitivity {
	if q.Query != QueryMean {
		return privacy.Sensitivity{Norm: privacy.L2, Bound: 2 * q.MaxGradNorm, Block: q.Columns}
	}
	return privacy.Sensitivity{Norm: privacy.L2, Bound: 2 * q.MaxGradNorm * math.Sqrt(float64(q.BatchSize))}
}

// Uses returns a use a step.
func (q CriticQuery) Uses() int64 { return int64(q.Steps) }

// Shards returns the number of disjoint shards that the critics learn from.
func (q CriticQuery) Shards() int { return q.Critics }

// Deviation returns the standard deviation of the noise on each number that Sensitivity is about.
func (q CriticQuery) Deviation() float64 {
	return q.NoiseMultiplier * q.Sensitivity(privacy.AddRemove).Bound
}

// release draws a paid CriticQuery: the noised gradients of critics' scores at
// generated rows.
type release struct {
	c       CriticQuery
	paid    *privacy.Handle
	use     *privacy.Use
	asked   []int // the critic of each row of this step; nil: all of them
	lattice noise.Lattice
	sigma   float64 // of the noise on a row (batch, sample) or on the sum over critics (mean)
	clip    float64 // of one row's gradient by one critic
	passes  []*net.Pass
	sums    [][]float64 // of the chunks of critics
	losses  []float64
	out     net.Matrix
	flat    []float32
}

// criticChunk is how many critics are added up at once; it fixes the order of
// summation.
const criticChunk = 32

func newRelease(c CriticQuery, critic *net.Net, paid *privacy.Handle) (*release, error) {
	d, critics := critic.In(), c.Critics
	m := &release{c: c, paid: paid, sigma: c.Deviation(), out: net.NewMatrix(c.BatchSize, d),
		flat: make([]float32, c.BatchSize*d)}
	var err error
	if m.lattice, m.clip, err = c.lattice(); err != nil {
		return nil, err
	}
	for range parallel.Workers(critics) {
		m.passes = append(m.passes, critic.NewPass(c.BatchSize))
	}
	if c.Query == QueryMean {
		for range (critics + criticChunk - 1) / criticChunk {
			m.sums = append(m.sums, make([]float64, c.BatchSize*d))
		}
		m.losses = make([]float64, len(m.sums))
	} else {
		m.asked = make([]int, c.BatchSize)
	}
	return m, nil
}

// lattice gives the grid of the noise, and the clip of one row's gradient by one critic.
// The mean's sum is exact in float64 up to 2^-53 and rounded to float32 once, which
// moves it by at most critics*2^-24 of one critic's bound for each of two neighbours.
func (q CriticQuery) lattice() (l noise.Lattice, clip float64, err error) {
	bound, dim, spread := q.MaxGradNorm, q.Columns, 1.0
	if q.Query == QueryMean {
		root := math.Sqrt(float64(q.BatchSize))
		bound, dim, spread = bound*root, dim*q.BatchSize, root*(1+float64(float64(q.Critics)*0x1p-23))
	}
	if q.NoiseMultiplier == 0 {
		return l, q.MaxGradNorm, nil
	}
	l, err = noise.NewLattice(bound, q.Deviation(), dim, 0)
	if err == nil && (l.Step < 0x1p-120 || l.Step > 0x1p100) {
		err = fmt.Errorf("lattice: step: is %g", l.Step)
	}
	if err != nil {
		return l, 0, fmt.Errorf("max_grad_norm %g with noise_multiplier %g leaves the range of float32: %w", q.MaxGradNorm,
			q.NoiseMultiplier, err)
	}
	return l, l.Clip / spread, nil
}

// begin takes the use of step t and draws, by the paid source, whom it asks.
func (m *release) begin(t int) (err error) {
	if m.use, err = m.paid.Use(int64(t)); err != nil || m.asked == nil {
		return err
	}
	coins, who := m.use.Stream("critic of a row", 0), 0
	for i := range m.asked {
		if i == 0 || m.c.Query == QuerySample {
			who = int(coins.Uint64n(uint64(m.c.Critics)))
		}
		m.asked[i] = who
	}
	return nil
}

// query returns the noised gradient of the generator's loss, -D, at each
// generated row of the step that has begun, and the mean loss when asked for.
func (m *release) query(critics []*shardCritic, fake net.Matrix, wantLoss bool) (net.Matrix, float64) {
	loss, scale := 0.0, float32(1)
	if m.c.Query == QueryMean {
		loss, scale = m.mean(critics, fake), 1/float32(len(critics))
	} else {
		loss = m.askDrawn(critics, fake)
	}
	m.addNoise(m.use)
	for i := range m.out.Rows {
		row := m.out.Row(i)
		for j, v := range m.flat[i*m.out.Cols:][:m.out.Cols] {
			row[j] = scale * v
		}
	}
	if !wantLoss {
		loss = 0
	}
	return m.out, loss
}

func (m *release) addNoise(use *privacy.Use) {
	if m.sigma == 0 {
		copy(m.flat, privacy.Release(use, m.flat, m.flat))
		return
	}
	kernel.LatticeRound(m.flat, float32(m.lattice.Step))
	var in []float32
	if use.Probed() {
		in = slices.Clone(m.flat)
	}
	use.Stream("noise", 0).LatticeGaussian(m.flat, m.sigma, m.lattice.Step)
	copy(m.flat, privacy.Release(use, in, m.flat))
}

// askDrawn asks for each row the critic that was drawn for it; rows that follow each
// other and share theirs are asked together.
func (m *release) askDrawn(critics []*shardCritic, fake net.Matrix) (loss float64) {
	clear(m.flat)
	for i := 0; i < fake.Rows; {
		end := i + 1
		for end < fake.Rows && m.asked[end] == m.asked[i] {
			end++
		}
		dx, l := score(m.passes[0], critics[m.asked[i]].w, fake.Slice(i, end), asTrained())
		loss += l
		for row := range dx.Rows {
			if c := rowFactor(dx.Row(row), m.clip); c > 0 {
				kernel.Axpy(c, dx.Row(row), m.flat[(i+row)*fake.Cols:][:fake.Cols])
			}
		}
		i = end
	}
	return loss / float64(fake.Rows)
}

// mean adds up the clipped gradients of all critics in flat.
func (m *release) mean(critics []*shardCritic, fake net.Matrix) (loss float64) {
	parallel.Do(len(m.passes), len(m.sums), func(worker, piece int) {
		sum := m.sums[piece]
		clear(sum)
		m.losses[piece] = 0
		for _, k := range critics[piece*criticChunk : min((piece+1)*criticChunk, len(critics))] {
			dx, l := score(m.passes[worker], k.w, fake, asTrained())
			addClipped(sum, dx, m.clip)
			m.losses[piece] += l
		}
	})
	total := m.sums[0]
	for p, sum := range m.sums {
		loss += m.losses[p]
		if p > 0 {
			for i, v := range sum {
				total[i] += v
			}
		}
	}
	for i, v := range total {
		m.flat[i] = float32(v)
	}
	return loss / float64(len(critics)*fake.Rows)
}

// asTrained runs a critic as it is trained: batch_norm goes by the rows at hand.
func asTrained() net.Mode { return net.Mode{Train: true, Frozen: true} }

// score returns the gradient of -D at the rows of x, and the sum of -D.
func score(p *net.Pass, w []float32, x net.Matrix, m net.Mode) (net.Matrix, float64) {
	p.Input(x.Rows).CopyFrom(x)
	y := p.Forward(w, m)
	var loss float64
	for i := range y.Rows {
		loss -= float64(y.Row(i)[0])
	}
	net.Wasserstein(p.OutGrad(), y, -1, nil)
	return p.BackwardInput(w, 0), loss
}

// rowFactor returns what clips g to norm at most clip; 0 where g is not finite.
func rowFactor(g []float32, clip float64) float32 {
	var f [1]float32
	clipFactors(f[:], []float64{kernel.SumSquares(g)}, []float64{0}, clip)
	return f[0]
}

func addClipped(sum []float64, dx net.Matrix, clip float64) {
	for i := range dx.Rows {
		g := dx.Row(i)
		c := float64(rowFactor(g, clip))
		if c == 0 {
			continue
		}
		to := sum[i*dx.Cols:][:len(g)]
		for j, v := range g {
			to[j] += float64(c * float64(v))
		}
	}
}
