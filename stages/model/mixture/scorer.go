package mixture

import (
	"fmt"
	"math"
	"slices"

	"weir/internal/bitmath"
	"weir/pipeline/domain"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
	"weir/train/posterior"
)

// scorer tells by a released mixture how unlike the others a row is: minus the base-2 logarithm
// of the row's probability, in bits, 0 or more. It is that of the row's stratum, by noisy
// sizes, times that of its cells in the stratum's mixture, at the mean of the law of the
// parameters: rows are drawn with parameters of their own, so that their law is a little
// wider. A stratum that has learned nothing gives all cells of a column one chance. Points of a
// cell share it; of a number without a step the cell is one of 4,096 of equal width, so that
// its density has the same order.
//
// A row that is never drawn (a stratum of noisy size 0, another value than its stratum fixes,
// out of bounds, missing where the model has none missing) has the highest score, 64/ln 2 = 92.3 bits
// for each column, and no row has more.
type scorer struct {
	*model
	shares []float64          // logarithms, of strata
	fixed  []*posterior.Fixed // of each stratum; nil where it has the prior
}

const leastOfColumn = -64

func decodeScorer(files map[string][]byte) (artifact.Scorer, error) {
	m, err := decode(files)
	if err != nil {
		return nil, err
	}
	return newScorer(m.(*model)), nil
}

func newScorer(m *model) scorer {
	s := scorer{model: m, shares: []float64{0}}
	if sizes := m.shares(); len(sizes) > 0 {
		s.shares = logShares(sizes)
	}
	at := 0
	for i, stratum := range m.layout.strata {
		s.fixed = append(s.fixed, nil)
		if !slices.Contains(m.PriorOnly, i) {
			s.fixed[i] = stratum.At(m.mean[at:][:stratum.Params()])
			at += stratum.Params()
		}
	}
	return s
}

func logShares(sizes []float64) (logs []float64) {
	all := 0.0
	for _, n := range sizes {
		all += n
	}
	for _, n := range sizes {
		logs = append(logs, math.Inf(-1))
		if n > 0 {
			logs[len(logs)-1] = bitmath.Log(n / all)
		}
	}
	return logs
}

// Domain implements artifact.Scorer.
func (s scorer) Domain() *domain.Domain { return s.model.Domain }

// Scores implements artifact.Scorer.
func (s scorer) Scores(f *columns.Frame) ([]float64, error) {
	of := make([]*columns.Column, len(s.layout.grids))
	for j := range of {
		name := s.model.Domain.Columns[j].Name
		if of[j] = f.Column(name); of[j] == nil {
			return nil, fmt.Errorf("column %s: is missing, must be there", name)
		}
	}
	least, row := float64(leastOfColumn*len(of)), newPlaced(s.model)
	scores := make([]float64, f.Rows)
	for i := range scores {
		log := least
		if row.read(of, i) {
			log = max(s.log(row), least)
		}
		scores[i] = 0 - min(log, 0)/math.Ln2
	}
	return scores, nil
}

// log is the logarithm of a row's probability; -Inf where it is never drawn.
func (s scorer) log(row *placed) float64 {
	at := s.layout.stratum(row.cells)
	of := &s.layout.strata[at]
	if !of.allows(row) {
		return math.Inf(-1)
	}
	log := s.shares[at]
	for j, g := range s.layout.grids {
		if _, is := of.fixed[j]; !is && !g.Coded() && row.cells[j] < g.Values() {
			log -= row.points[j]
		}
	}
	if s.fixed[at] == nil {
		for _, place := range of.Places {
			log -= s.layout.flat(s.layout.parts[place], row.cells)
		}
		return log
	}
	row.spans = row.spans[:0]
	for _, place := range of.Places {
		row.spans = append(row.spans, s.layout.span(s.layout.parts[place], row.cells))
	}
	return log + s.fixed[at].LogProb(row.spans)
}
