package mixture

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
)

// model is a released mixture: public facts, noisy sizes, and the law of the parameters of
// each stratum that has one, which are functions of noised sums.
type model struct {
	Domain *domain.Domain `json:"domain"`
	Shape
	Sizes     []int64 `json:"sizes,omitempty"`      // noisy, of each stratum; none without strata
	PriorOnly []int   `json:"prior_only,omitempty"` // strata that are too small to have learned anything

	layout    *layout
	mean, log []float32 // of the strata that are not PriorOnly, one after the other
	deviation float64   // of the noise on sizes; not released, a number of the bill
}

const (
	format      = 1
	describedBy = "model.json"
	lawName     = "posterior" // means, then log deviations, float32, little endian
)

func (m *model) pack(h pipeline.Header) (pipeline.Table, error) {
	description, err := json.Marshal(m)
	if err != nil {
		return pipeline.Table{}, err
	}
	var law []byte
	for _, v := range slices.Concat(m.mean, m.log) {
		law = binary.LittleEndian.AppendUint32(law, math.Float32bits(v))
	}
	return artifact.Pack(h, mixtureName, format, []pipeline.File{{Name: describedBy, Data: description},
		{Name: lawName, Data: law}})
}

// decode judges what was packed before it is used: it may come from anyone.
func decode(files map[string][]byte) (artifact.Model, error) {
	m, err := described(files)
	if err == nil {
		err = m.check(files[lawName])
	}
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return m, nil
}

// described reads the description, which has one spelling: the one that pack writes.
func described(files map[string][]byte) (*model, error) {
	description, m := files[describedBy], &model{}
	if _, ok := files[lawName]; !ok || len(files) != 2 || len(description) == 0 {
		return nil, fmt.Errorf("holds %d parts, must hold %s and %s", len(files), describedBy, lawName)
	}
	if err := json.Unmarshal(description, m); err != nil {
		return nil, fmt.Errorf("%s: %w", describedBy, err)
	}
	if again, err := json.Marshal(m); err != nil || !bytes.Equal(again, description) {
		return nil, fmt.Errorf("%s: is not spelled as it is written: has keys that a mixture has not, or another order",
			describedBy)
	}
	return m, nil
}

func (m *model) check(law []byte) error {
	if m.Domain == nil {
		return errors.New("has no domain")
	}
	if err := artifact.CheckDomain(m.Domain); err != nil {
		return err
	}
	if err := m.Prior.Check(); err != nil {
		return err
	}
	if m.Components < 1 || m.Components > MostComponents {
		return fmt.Errorf("components: are %d, must be from 1 to %d", m.Components, MostComponents)
	}
	var ps schema.Problems
	m.layout = newLayout(m.Shape, m.Domain, &ps)
	if err := ps.Err(); err != nil {
		return err
	}
	if err := m.checkSizes(); err != nil {
		return err
	}
	return m.read(law)
}

// checkSizes judges the sizes and who has the prior.
func (m *model) checkSizes() error {
	want := len(m.layout.strata)
	if len(m.layout.stratify) == 0 {
		want = 0
	}
	if len(m.Sizes) != want {
		return fmt.Errorf("sizes: are %d, must be %d", len(m.Sizes), want)
	}
	for i, n := range m.Sizes {
		if n < 0 || n > 1<<61 {
			return fmt.Errorf("sizes[%d]: is %d, must be from 0 to 2^61", i, n)
		}
	}
	for i, s := range m.PriorOnly {
		if s < 0 || s >= want || i > 0 && s <= m.PriorOnly[i-1] {
			return fmt.Errorf("prior_only[%d]: is %d, must be a stratum, ascending, below %d", i, s, want)
		}
	}
	return nil
}

// read takes the law: so many numbers as the strata have parameters, all finite.
func (m *model) read(law []byte) error {
	n := 0
	for i, s := range m.layout.strata {
		if !slices.Contains(m.PriorOnly, i) {
			n += s.Params()
		}
	}
	if len(law) != 2*4*n {
		return fmt.Errorf("%s: has %d bytes, must have %d: 4 for mean and for log deviation of each of %d parameters",
			lawName, len(law), 8*n, n)
	}
	for i := range 2 * n {
		v, within := math.Float32frombits(binary.LittleEndian.Uint32(law[4*i:])), [2]float32{-mostOfMean, mostOfMean}
		if i >= n {
			within = [2]float32{-mostOfMean, mostOfLogDeviation}
		}
		if !(v >= within[0] && v <= within[1]) {
			return fmt.Errorf("%s: number %d is %g, must be from %g to %g", lawName, i, v, within[0], within[1])
		}
		if i < n {
			m.mean = append(m.mean, v)
		} else {
			m.log = append(m.log, v)
		}
	}
	return nil
}

// What the numbers of a law are held to: a little more than train.FitMeanField does, so that
// exp of what is drawn from it is a number.
const (
	mostOfMean         = 21
	mostOfLogDeviation = 2
)

// scorer tells by a released mixture how unlike the others a row is: minus the base-2 logarithm
// of the row's probability, in bits, 0 or more. It is the probability of the row's stratum, by noisy
// sizes, times the probability of its cells in the stratum's mixture, at the mean of the law of the
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
	shares []float64 // logarithms, of strata
	fixed  []*Fixed  // of each stratum; nil where it has the prior
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
	pos := 0
	for i, stratum := range m.layout.strata {
		s.fixed = append(s.fixed, nil)
		if !slices.Contains(m.PriorOnly, i) {
			s.fixed[i] = stratum.At(m.mean[pos:][:stratum.Params()])
			pos += stratum.Params()
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
	cols := make([]*columns.Column, len(s.layout.grids))
	for j := range cols {
		name := s.model.Domain.Columns[j].Name
		if cols[j] = f.Column(name); cols[j] == nil {
			return nil, fmt.Errorf("column %s: is missing, must be there", name)
		}
	}
	least, row := float64(leastOfColumn*len(cols)), newPlaced(s.model)
	scores := make([]float64, f.Rows)
	for i := range scores {
		log := least
		if row.read(cols, i) {
			log = max(s.log(row), least)
		}
		scores[i] = 0 - min(log, 0)/math.Ln2
	}
	return scores, nil
}

// log returns the logarithm of a row's probability; -Inf where it is never drawn.
func (s scorer) log(row *placed) float64 {
	pos := s.layout.stratum(row.cells)
	subject := &s.layout.strata[pos]
	if !subject.allows(row) {
		return math.Inf(-1)
	}
	log := s.shares[pos]
	for j, g := range s.layout.grids {
		if _, is := subject.fixed[j]; !is && !g.Coded() && row.cells[j] < g.Values() {
			log -= row.points[j]
		}
	}
	if s.fixed[pos] == nil {
		for _, place := range subject.Places {
			log -= s.layout.flat(s.layout.parts[place], row.cells)
		}
		return log
	}
	row.spans = row.spans[:0]
	for _, place := range subject.Places {
		row.spans = append(row.spans, s.layout.span(s.layout.parts[place], row.cells))
	}
	return log + s.fixed[pos].LogProb(row.spans)
}
