package graphical

import (
	"math"

	"weir/train/graphical"
)

// pace divides the squares that are left of a stage among rounds, as AIM does: each
// measures one set with the larger part and pays the choice of it with the rest.
type pace struct {
	choice float64 // part of a round for the choice
	round  float64 // squares of a round
}

// roundsAColumn is how many rounds there are for each column before noise falls.
const roundsAColumn = 16

func newPace(squares float64, columns int, choice float64) *pace {
	return &pace{choice: choice, round: squares / float64(roundsAColumn*columns)}
}

// next is what the coming round pays for its choice and its measurement: all that is
// left where that is too little for two.
func (p *pace) next(left float64) (choice, measure float64, last bool) {
	squares := p.round
	if left < 2*squares {
		squares, last = left, true
	}
	return float64(squares * p.choice), float64(squares * (1 - p.choice)), last
}

// learned takes what a round's measurement moved the model by, in L1 on its set of so
// many cells. Where noise alone would do that, later rounds have half of the noise and
// twice the epsilon.
func (p *pace) learned(moved, sigma float64, cells int) {
	if moved <= absoluteMean*sigma*float64(cells) {
		p.round *= 4
	}
}

// part is the limits that hold when so much of the budget is spent: a model grows with
// what it is measured by.
func part(l graphical.Limits, spent float64) graphical.Limits {
	return graphical.Limits{Clique: l.Clique, Total: int64(math.Ceil(float64(l.Total) * spent))}
}
