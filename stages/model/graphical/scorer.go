package graphical

import (
	"fmt"
	"math"

	"weir/pipeline/domain"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
)

// scorer tells by a released model of marginals how unlike the others a row is: minus the
// base-2 logarithm of the row's probability, in bits, 0 or more. It is the probability by
// which rows are drawn (likelihood.go): of the row's codes, times that of each value in its
// code. Of a number without a step that is its cell, one of 4,096 of equal width between its
// bounds, so that its density has the same order.
//
// A row that is never drawn (forbidden by a rule, out of bounds, missing where the model has
// none missing) has the highest score, 64/ln 2 = 92.3 bits for each column of the model, and no row has more.
type scorer struct{ *likelihood }

func decodeScorer(parts map[string][]byte) (artifact.Scorer, error) {
	m, err := decode(parts)
	if err != nil {
		return nil, err
	}
	l, err := newLikelihood(m.(*released), m.(*released).Domain)
	return scorer{l}, err
}

// Domain implements artifact.Scorer: the columns of the rows that are drawn.
func (s scorer) Domain() *domain.Domain { return s.model.Domain }

// Scores implements artifact.Scorer.
func (s scorer) Scores(f *columns.Frame) ([]float64, error) {
	of, err := ofFrame(f, s.model.Domain)
	if err != nil {
		return nil, err
	}
	scores := s.scores(f.Rows, of)
	for i, x := range scores {
		scores[i] = 0 - x/math.Ln2
	}
	return scores, nil
}

// ofFrame gives the values of a frame that has the columns of a domain.
func ofFrame(f *columns.Frame, d *domain.Domain) (cells, error) {
	of := make([]*columns.Column, len(d.Columns))
	for j := range d.Columns {
		if of[j] = f.Column(d.Columns[j].Name); of[j] == nil {
			return nil, fmt.Errorf("column %s: is missing, must be there", d.Columns[j].Name)
		}
	}
	return func(column, row int) float64 {
		c := of[column]
		switch {
		case c.Absent(row):
			return math.NaN()
		case c.Coded():
			return float64(c.Codes[row])
		}
		return c.Numbers[row]
	}, nil
}
