package train

import (
	"errors"
	"math"

	"weir/privacy"
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
// for query mean. Guarantee: that of Event (docs/accounting.md section 3.5 and its
// head for schedule public).
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
	check(q.NoiseMultiplier >= 0 && !math.IsInf(q.NoiseMultiplier, 1), "noise_multiplier", q.NoiseMultiplier, "a finite number of at least 0")
	check(q.Steps >= 0, "steps", q.Steps, "at least 0")
	check(q.BatchSize >= 1, "batch_size", q.BatchSize, "at least 1")
	check(q.Columns >= 1, "columns", q.Columns, "at least 1")
	check(q.Critics >= 1, "critics", q.Critics, "at least 1")
	check(q.Query == QueryBatch || q.Query == QuerySample || q.Query == QueryMean, "query", q.Query, "batch, sample or mean")
	check(q.Schedule == SchedulePublic || q.Schedule == ScheduleDrawn && q.Query != QueryMean, "critic_schedule", q.Schedule,
		"public or drawn; public for query mean, which asks every critic")
	if len(errs) == 0 {
		_, _, err := q.lattice()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Event is what all steps release.
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
	return privacy.SampledWithoutReplacement{SampleSize: 1, Population: int64(q.Critics), Event: privacy.Gaussian{NoiseMultiplier: multiplier}}
}

// repeated is Gaussian releases of all critics. Changing one shard moves one critic's
// gradients by up to 2*MaxGradNorm a row under either adjacency, so the multiplier is
// doubled where the accountant is going to halve it.
func (q CriticQuery) repeated(count int64, multiplier float64, a privacy.Adjacency) privacy.Event {
	if a == privacy.ReplaceOne {
		multiplier *= 2
	}
	return privacy.Repeated{Count: count, Event: privacy.Gaussian{NoiseMultiplier: multiplier}}
}

// Sensitivity is that of the clipped gradients of a step: row by row for queries
// batch and sample; for query mean of their sum over critics.
func (q CriticQuery) Sensitivity(privacy.Adjacency) privacy.Sensitivity {
	if q.Query != QueryMean {
		return privacy.Sensitivity{Norm: privacy.L2, Bound: 2 * q.MaxGradNorm, Block: q.Columns}
	}
	return privacy.Sensitivity{Norm: privacy.L2, Bound: 2 * q.MaxGradNorm * math.Sqrt(float64(q.BatchSize))}
}

// Uses is a use a step.
func (q CriticQuery) Uses() int64 { return int64(q.Steps) }

// Shards is the number of disjoint shards that the critics learn from.
func (q CriticQuery) Shards() int { return q.Critics }

// Deviation is that of the noise on each number that Sensitivity is about.
func (q CriticQuery) Deviation() float64 {
	return q.NoiseMultiplier * q.Sensitivity(privacy.AddRemove).Bound
}
