package mechanism

import (
	"errors"
	"fmt"
	"math"

	"weir/privacy"
	"weir/privacy/noise"
)

// Votes releases how many teachers take a row for a real one, as PATE asks them
// (Papernot et al. 2017; for PATE-GAN Jordon, Yoon, van der Schaar 2019).
//
// Input: at each of Steps steps the counts, over Teachers teachers on disjoint shards, of
// those that say one of each of Rows rows. A teacher is a function of its own shard, of
// public randomness and of what was released before, of no other shard; the rows that it
// judges are a function of what was released before. Sensitivity: one changed shard makes
// its teacher any other, which moves each count by at most 1, under either adjacency. Those
// who say zero are the rest of a public number and are not counted apart, which would cost
// two. Release: the counts with integer noise of their own each; thresholds, shares, students
// and generators that follow are post-processing.
//
// Guarantee: the guarantee of Event, one release a vote, Steps*Rows in all, for whatever the votes
// are: nothing of it depends on how the teachers agree (W21). The rows of a step follow from
// the votes of steps before it, which is adaptive composition, and its events are fixed
// ahead. gaussian: round(N(0, NoiseMultiplier^2)), for x + round(N) = round(x + N) is
// post-processing of the Gaussian mechanism; accountants take 2 for its sensitivity under
// replace_one, so that the event there has twice the multiplier. laplace: discrete Laplace
// noise of scale NoiseMultiplier, priced as LaplaceTotal, whose sensitivity is the same.
//
// NoiseMultiplier 0 is a run without privacy: nothing is added.
type Votes struct {
	NoiseMultiplier float64
	Law             VoteLaw
	Teachers, Rows  int
	Steps           int64
}

// VoteLaw is the law of the noise on a count of votes.
type VoteLaw string

const (
	GaussianVotes VoteLaw = "gaussian"
	LaplaceVotes  VoteLaw = "laplace"
)

func (m Votes) Check() error {
	errs := []error{checkUses("teachers", int64(m.Teachers)), checkUses("rows", int64(m.Rows)),
		checkUses("steps", m.Steps)}
	switch {
	case m.Law != GaussianVotes && m.Law != LaplaceVotes:
		errs = append(errs, fmt.Errorf("law: is %q, must be gaussian or laplace", m.Law))
	case m.NoiseMultiplier == 0:
	case m.Law == GaussianVotes:
		errs = append(errs, checkSigma("noise multiplier", m.NoiseMultiplier))
	default:
		errs = append(errs, m.total().Check())
	}
	if m.Rows > 0 && m.Steps > math.MaxInt64/int64(m.Rows) {
		errs = append(errs, fmt.Errorf("steps: are %d of %d votes, must be at most 2^63 votes together", m.Steps, m.Rows))
	}
	return errors.Join(errs...)
}

// votes returns the number of all votes.
func (m Votes) votes() int64 { return m.Steps * int64(m.Rows) }

// total returns the mechanism of all votes with Laplace noise.
func (m Votes) total() LaplaceTotal {
	return LaplaceTotal{NoiseMultiplier: m.NoiseMultiplier, Releases: m.votes()}
}

func (m Votes) Event(a privacy.Adjacency) privacy.Event {
	if m.Law == LaplaceVotes {
		return m.total().Event(a)
	}
	e := privacy.Gaussian{NoiseMultiplier: m.NoiseMultiplier}
	if a == privacy.ReplaceOne {
		e.NoiseMultiplier *= 2
	}
	return repeated(m.votes(), e)
}

// Sensitivity returns the sensitivity of each count.
func (m Votes) Sensitivity(privacy.Adjacency) privacy.Sensitivity {
	norm := privacy.L2
	if m.Law == LaplaceVotes {
		norm = privacy.L1
	}
	return privacy.Sensitivity{Norm: norm, Bound: 1, Block: 1}
}

// Deviation returns the standard deviation of the noise on a count.
func (m Votes) Deviation() float64 {
	switch {
	case m.NoiseMultiplier == 0:
		return 0
	case m.Law == LaplaceVotes:
		return m.total().Deviation()
	}
	return GaussianHistogram{NoiseMultiplier: m.NoiseMultiplier}.Deviation()
}

// Uses returns the number of uses: one for each step.
func (m Votes) Uses() int64 { return m.Steps }

// Shards returns the number of disjoint shards that the teachers learn from.
func (m Votes) Shards() int { return m.Teachers }

func (m Votes) add(st *noise.Stream, counts []int64) error {
	if len(counts) != m.Rows {
		return fmt.Errorf("votes: are on %d rows, planned are %d", len(counts), m.Rows)
	}
	if m.NoiseMultiplier == 0 {
		return nil
	}
	if m.Law == LaplaceVotes {
		return m.total().counts().add(st, counts)
	}
	st.IntegerGaussian(counts, m.NoiseMultiplier)
	return nil
}
