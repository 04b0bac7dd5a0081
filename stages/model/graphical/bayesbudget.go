package graphical

import (
	"math"

	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/mechanism"
)

// bayesBudget divides a scale among the mechanisms of a network.
type bayesBudget struct {
	adjacency       privacy.Adjacency
	families        float64 // one of each column
	oneWay, network float64
	moves           mechanism.Moves // of a score
}

func (s *PrivBayes) budget(h pipeline.Header) bayesBudget {
	return bayesBudget{h.Terms.Adjacency, float64(len(h.Domain.Columns)), s.OneWay, s.Network, s.moves(publicRows(h))}
}

// moves bounds how far one row moves a score: see dependence, dependencePublished.
func (s *PrivBayes) moves(rows float64) mechanism.Moves {
	switch {
	case s.Score == "released":
		return mechanism.Moves{AddRemove: 2, ReplaceOne: 4}
	case rows > 0:
		return mechanism.Moves{AddRemove: 4, ReplaceOne: min(6+4/rows, 8)}
	}
	return mechanism.Moves{AddRemove: 4, ReplaceOne: 8}
}

// unit is how far a row moves the counts of a table, in L1.
func (b bayesBudget) unit() float64 {
	if b.adjacency == privacy.ReplaceOne {
		return 2
	}
	return 1
}

// leastScale keeps the noise of a run without privacy to numbers that can be drawn: it
// is 0 but with probability e^-1000.
const leastScale = 0x1p-10

func (b bayesBudget) tables(scale float64) privacy.Mechanism {
	each := (1 - b.network) / b.families // of epsilon
	return mechanism.LaplaceCounts{NoiseMultiplier: max(b.unit()*scale/each, leastScale), Releases: int64(b.families)}
}

func (b bayesBudget) choices(scale float64) privacy.Mechanism {
	epsilon := b.network / (b.families - 1) / scale
	return mechanism.Exponential{Scores: mechanism.Scores{Epsilon: min(epsilon, mostEpsilon), Adjacency: b.adjacency,
		Moves: b.moves, Candidates: privacy.AnyNumber, Selections: int64(b.families) - 1}}
}

// columns have the given part of the squares of all: Laplace noise of epsilon e counts
// e^2, a choice e^2/4.
func (b bayesBudget) columns(scale float64) privacy.Mechanism {
	rest := (1 - b.network) * (1 - b.network) / b.families
	if b.families > 1 {
		rest += b.network * b.network / (4 * (b.families - 1))
	}
	mu := math.Sqrt(rest * b.oneWay / (1 - b.oneWay))
	return mechanism.GaussianFilter{NoiseMultiplier: b.unit() * scale / mu, Adjacency: b.adjacency}
}
