// Package train is the DP training core that every learned stage runs on:
// per-example clipping without per-example gradients, noise on a lattice,
// optimisers, and the loops (Fit, WGAN, LabelGAN, GSWGAN) as plain functions.
//
// Randomness comes from two places. A seed drives what is public: latents of
// generated rows and schedules. A paid privacy.Handle drives what must stay secret:
// Poisson samples, noise, and all randomness that belongs to single private rows
// (dropout masks, variational draws, the rows that a penalty pairs them with). If
// the latter were public, adding a row would shift the draws of the rows behind
// it, and the sensitivity of a sum of clipped gradients would no longer be one
// clip bound. Every draw is indexed by step and chunk, so a checkpoint needs no
// generator state and bits do not depend on the number of cores.
package train

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"weir/privacy"
	"weir/privacy/noise"
)

// DPSGD says how a loop samples, clips, adds noise and pays: one value for all
// four, so they cannot disagree (Abadi et al. 2016).
//
// Input: private rows. Each step takes a Poisson sample at SamplingRate, clips
// each example's gradient over all weights together to an L2 norm of at most
// MaxGradNorm (one that is not finite counts as zero), sums, adds N(0,
// (NoiseMultiplier*MaxGradNorm)²) to each coordinate on the lattice of package
// noise, and divides by ExpectedBatchSize, which is public. An empty sample is a
// step like any other. Adjacency: add_remove of a row, or replace_one, for which
// the accountant doubles the sensitivity. Guarantee: the guarantee of Event.
//
// With Tensors weight tensors, each has a clip of MaxGradNorm for itself, and noise of
// NoiseMultiplier*MaxGradNorm. They are one release: of one batch, whose coin they share
// (W36), of sensitivity sqrt(Tensors)*MaxGradNorm, so that the multiplier of its event is
// NoiseMultiplier/sqrt(Tensors) (McMahan et al. 2018, Learning Differentially Private
// Recurrent Language Models, section 3, flat against per-layer clipping).
//
// With Shuffle rows, batches are not samples: each epoch has one secret uniform order of
// so many rows and takes batches of ExpectedBatchSize from it, one after the other, the
// last of an epoch what is left. No amplification is claimed: with the order given away,
// which no row has a say in, a row is in one batch of each epoch that was begun, so that
// Event is one Gaussian release an epoch (parallel composition inside an epoch). Rows of
// the table beyond Shuffle are never met; places beyond the table are empty. So a row that is
// added to a full table takes the place of another: two clips under add_remove too.
type DPSGD struct {
	MaxGradNorm       float64 `json:"max_grad_norm"`
	NoiseMultiplier   float64 `json:"noise_multiplier"`
	SamplingRate      float64 `json:"sampling_rate"`
	ExpectedBatchSize float64 `json:"expected_batch_size"`
	Steps             int     `json:"steps"`
	Weights           int     `json:"weights,omitempty"` // of the gradient; 0: not stated, so that Check cannot say whether noise for them is in reach
	Tensors           int     `json:"tensors,omitempty"` // 0: one clip over all weights; else each of so many weight tensors has MaxGradNorm for itself
	Shuffle           int     `json:"shuffle,omitempty"` // 0: Poisson samples; else the public number of rows that each epoch's shuffle orders
	Joined            int     `json:"joined,omitempty"`  // 0: an example is a private row; else so many rows, the private one and generated ones (see joined)
}

// Event returns what the steps release together. Replacing a row moves a clipped sum by twice
// the bound, which the accountant applies under replace_one.
func (c DPSGD) Event(a privacy.Adjacency) privacy.Event {
	step := privacy.Gaussian{NoiseMultiplier: c.NoiseMultiplier / c.rootTensors()}
	if c.Shuffle > 0 {
		if a == privacy.AddRemove {
			step.NoiseMultiplier /= 2
		}
		return privacy.Repeated{Count: int64((c.Steps + c.epoch() - 1) / c.epoch()), Event: step}
	}
	return privacy.Repeated{Count: int64(c.Steps), Event: privacy.PoissonSampled{SamplingRate: c.SamplingRate,
		Event: step}}
}

// rootTensors returns the clip of a row's whole gradient over MaxGradNorm.
func (c DPSGD) rootTensors() float64 { return math.Sqrt(float64(max(1, c.Tensors))) }

// epoch returns the number of batches that a shuffle is cut into.
func (c DPSGD) epoch() int { return (c.Shuffle + c.batch() - 1) / c.batch() }

// batch returns the number of rows of a batch that is cut from a shuffle.
func (c DPSGD) batch() int { return int(c.ExpectedBatchSize) }

// Sensitivity returns the sensitivity of the sum of a step, on the lattice: its rounding is part
// of the bound.
func (c DPSGD) Sensitivity(a privacy.Adjacency) privacy.Sensitivity {
	if a == privacy.ReplaceOne || c.Shuffle > 0 {
		return privacy.Sensitivity{Norm: privacy.L2, Bound: 2 * c.bound()}
	}
	return privacy.Sensitivity{Norm: privacy.L2, Bound: c.bound()}
}

// bound returns the clip of a row's whole gradient.
func (c DPSGD) bound() float64 { return float64(c.MaxGradNorm * c.rootTensors()) }

// Uses returns a use a step.
func (c DPSGD) Uses() int64 { return int64(c.Steps) }

// Check names every field that is out of range. Without noise the clip may be
// infinite: then nothing is clipped, and nothing is private.
func (c DPSGD) Check() error {
	var errs []error
	check := checking(&errs)
	check(c.MaxGradNorm > 0, "max_grad_norm", c.MaxGradNorm, "above 0")
	check(c.NoiseMultiplier >= 0 && !math.IsInf(c.NoiseMultiplier, 1), "noise_multiplier", c.NoiseMultiplier,
		"a finite number of at least 0")
	check(c.NoiseMultiplier == 0 || !math.IsInf(c.MaxGradNorm, 1), "max_grad_norm", c.MaxGradNorm,
		"finite where noise is added")
	check(c.SamplingRate > 0 && c.SamplingRate <= 1, "sampling_rate", c.SamplingRate, "above 0 and at most 1")
	check(c.ExpectedBatchSize > 0 && !math.IsInf(c.ExpectedBatchSize, 1), "expected_batch_size", c.ExpectedBatchSize,
		"a finite number above 0")
	check(c.Steps >= 0, "steps", c.Steps, "at least 0")
	check(c.Weights >= 0, "weights", c.Weights, "at least 0")
	check(c.Tensors >= 0 && (c.Weights == 0 || c.Tensors <= c.Weights), "tensors", c.Tensors,
		"at least 0 and at most weights")
	check(c.Shuffle >= 0 && c.Shuffle <= math.MaxInt32, "shuffle", c.Shuffle, "at least 0 and at most 2147483647")
	check(c.Joined >= 0 && c.Joined <= 3, "joined", c.Joined, "from 0 to 3")
	check(c.Shuffle == 0 || c.ExpectedBatchSize >= 1 && c.ExpectedBatchSize <= float64(c.Shuffle) &&
		c.ExpectedBatchSize == math.Trunc(c.ExpectedBatchSize),
		"expected_batch_size", c.ExpectedBatchSize, "a whole number of at most shuffle rows, where batches are cut from a "+
			"shuffle")
	if len(errs) == 0 && c.Weights > 0 {
		_, err := c.lattice(c.Weights)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// clips reports whether examples are clipped at all.
func (c DPSGD) clips() bool { return !math.IsInf(c.MaxGradNorm, 1) }

// Deviation returns the standard deviation of the noise on each coordinate of a step's sum.
func (c DPSGD) Deviation() float64 { return c.sigma() }

// tensorClip returns what each of the parts that are clipped for themselves may have of a
// whole gradient of norm clip: the root of Tensors of it, rounded down.
func (c DPSGD) tensorClip(clip float64) float64 {
	if c.Tensors == 0 || math.IsInf(clip, 1) {
		return clip
	}
	return clip / c.rootTensors() * (1 - 0x1p-50)
}

// sigma returns the standard deviation of the noise on the sum.
func (c DPSGD) sigma() float64 { return c.NoiseMultiplier * c.MaxGradNorm }

// room returns the largest batch whose sum is made in float32. A Poisson sample of the
// expected size exceeds it with probability below 1e-20 (Bernstein: exp(-t²/(2(m +
// t/3))) for t = 10 sqrt(m) + 100). Where the row count is private it may be any
// number, and nothing may fail because of it: larger batches take another way
// (gradient.exact) to the same sum.
func (c DPSGD) room() int {
	m := math.Min(c.ExpectedBatchSize, 1<<30)
	return int(m + float64(10*math.Sqrt(m)) + 100)
}

// leastStep keeps clips, which are over 2^9 steps, so far from where float32 ends that a
// row's gradient loses nothing when it is scaled to them: errors of 2^-150 times inputs of a
// norm below 2^64 (larger ones are not finite when squared, and count as zero).
const leastStep = 0x1p-70

// parts returns the greatest length, in clips, of all parts of an example that joins rows together at which
// the example is summed with others: a longer one is added on its own (see apart). It is what a thirtieth of
// the clip pays for, and at least 4; infinite where no example joins rows.
func (c DPSGD) parts() float64 {
	if c.Joined <= 1 {
		return math.Inf(1)
	}
	return math.Max(4, 0x1p23/30/c.joinedTerms())
}

// joinedTerms returns what stands for (chunkRows+2)*rows where examples join rows.
func (c DPSGD) joinedTerms() float64 {
	return (float64(float64(c.Joined)*joinedRows) + 2) * float64(c.room())
}

// MostBatch returns the largest whole ExpectedBatchSize up to the one of c with which the sum of a step can be
// made in float32, all else being equal; 0 where there is none.
func (c DPSGD) MostBatch() int {
	return sort.Search(int(math.Min(c.ExpectedBatchSize, 1<<30)), func(below int) bool {
		c.ExpectedBatchSize = float64(below + 1)
		_, err := c.lattice(c.Weights)
		return err != nil
	})
}

// lattice returns the grid of the noisy sum of dim coordinates.
//
// The float32 error that it pays for is the distance of the sum computed from the
// sum of the rows' own gradients, each rounded to float32: chunks of chunkRows
// rows added up in float64, which are then rounded to float32 once. That is at
// most (chunkRows+2)*rows*2^-24 clips for a batch of rows up to room, the same as
// one chain of sqrt((chunkRows+2)*rows). Larger batches are summed with an error
// below 2^-22 clips whatever their size (gradient.exact): it is the last term of the
// chain. Where an example joins rows, whose gradients may cancel, a sum has so many times
// more terms, of parts clips an example; those that are added on their own (see apart) are at most joinedRows
// more additions of one clip, in the place of Joined terms of parts clips each, which is more as long as
// parts is above 1/2. With a clip for each tensor, its Clip bounds a row's whole gradient, which
// tensorClip shares out.
func (c DPSGD) lattice(dim int) (noise.Lattice, error) {
	if c.NoiseMultiplier == 0 {
		return noise.Lattice{Clip: c.bound()}, nil
	}
	rows := float64(c.room())
	terms := (math.Min(rows, chunkRows) + 2) * rows
	if c.Joined > 1 {
		terms = c.joinedTerms() * c.parts()
	}
	chain := math.Ceil(math.Sqrt(terms+16)) + 1
	l, err := noise.NewLattice(c.bound(), c.sigma(), dim, int(math.Min(chain, math.MaxInt32)))
	if err == nil && (l.Step < leastStep || !(l.Clip > 0)) {
		err = fmt.Errorf("lattice: has step %g and clip %g, must have a step of at least %g and a clip above 0", l.Step,
			l.Clip, float64(leastStep))
	}
	if err != nil {
		return l, fmt.Errorf("max_grad_norm %g with noise_multiplier %g for %d weights and expected_batch_size %g leaves "+
			"the range of float32: %w",
			c.MaxGradNorm, c.NoiseMultiplier, dim, c.ExpectedBatchSize, err)
	}
	return l, nil
}

// exact adds up the clipped gradients of the listed rows one at a time, in pairs of
// float64: the way of batches larger than float32 sums are paid for.
//
// Every row's gradient, rounded to float32, is a function of that row, the weights
// and draws of its own, so two neighbours' sums differ by one of them. A plain
// float64 sum would not do: it rounds every later addend by where it stands, and n
// rows err by n^2 2^-54 clips. A pair of float64 errs by n^2 2^-104 in all (each
// addition by 2^-104 of a sum of at most n clips: Dekker 1971; Joldes, Muller,
// Popescu 2017, algorithm 4), below 2^-42 clips for the 2^31 rows that an index can
// name; the rounding of the pair to one float64 at the end adds 2^-54 n, below 2^-23
// clips. It costs some 50 times as much a row as chunks do; who declares an
// expected_batch_size near the true one never comes here.
func (g *gradient) exact(w []float32, index []int32, wantLoss bool) []float64 {
	if g.total == nil {
		g.total = make([]float64, len(g.sum))
	}
	low := make([]float64, len(g.sum))
	clear(g.total)
	g.loss = 0
	g.prepare(w)
	l := g.lane(0)
	for i := range index {
		g.chunk(l, w, index[i:i+1], i, i, wantLoss)
		for j, v := range l.grad {
			g.total[j], low[j] = addPair(g.total[j], low[j], float64(v))
		}
		g.loss += sumOf(l.loss, 1, wantLoss)
	}
	for j, v := range low {
		g.total[j] += v
	}
	return g.total
}

// addPair adds x to the number high + low. No product is in it that a compiler
// could fuse.
func addPair(high, low, x float64) (float64, float64) {
	sum := high + x
	back := sum - high
	rest := (high - (sum - back)) + (x - back) // the error of sum, exactly (Knuth's TwoSum)
	rest += low
	top := sum + rest
	return top, rest - (top - sum)
}
