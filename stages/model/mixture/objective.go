package mixture

import (
	"fmt"

	"weir/train/parallel"
)

// Stratum is the mixture of the rows of one stratum. Places says of each of its columns
// which values they are: what is fixed in a stratum is not a column of its mixture.
type Stratum struct {
	MixtureShape
	Places []int
}

// Objective is minus the log likelihood of rows, each under the mixture of its stratum. The
// parameters are the parameters of stratum 0, then of stratum 1, and so on.
//
// A row's gradient is zero but for the parameters of its own stratum, and a clip covers all
// parameters. So a row moves a clipped sum by at most the clip, and one that is replaced by
// at most two, also where its stratum changes: then it is one removal and one addition. No
// stratum is sampled at a rate of its own, and nobody needs to know the size of one.
//
// Rows are worked on in float64. What a row adds is a function of that row and the
// parameters. Sums of up to 128 rows (a chunk) go to float32 once: with a row's parts at most
// 2^22.5 clips long (see Squares), 128 additions err by less than 2^-16 clips, of the 2^-10
// that the lattice of train.DPSGD pays for.
type Objective struct {
	strata []Stratum
	tables []*table
	from   []int // first parameter of each stratum
	values []values
	cells  []uint16 // of all columns, row by row: a batch meets rows at random, each in one run
	of     []uint16
	theta  []float64
	ready  bool // the tables stand at theta
}

// values are the features of the numbers of a column.
type values struct {
	read bool
	of   Column
	x, y []float64
}

// NewObjective returns the objective of len(items) rows: items[i] is the index of row i's stratum, and columns[p] holds
// the values of all rows in the column that strata know by the place p. Its error says which index is out of range, or
// which column of a stratum does not fit its values.
func NewObjective(strata []Stratum, columns []Values, items []uint16) (*Objective, error) {
	o := &Objective{strata: strata, of: items, values: make([]values, len(columns)),
		cells: make([]uint16, len(items)*len(columns))}
	for _, s := range items {
		if int(s) >= len(strata) {
			return nil, fmt.Errorf("strata: a row is outside 0 to %d", len(strata)-1)
		}
	}
	params := 0
	for i, s := range strata {
		if err := o.read(s, columns); err != nil {
			return nil, fmt.Errorf("stratum %d: %w", i, err)
		}
		o.from = append(o.from, params)
		o.tables = append(o.tables, newTable(s.MixtureShape))
		params += s.Params()
	}
	o.theta = make([]float64, params)
	return o, nil
}

// read takes the values that a stratum has.
func (o *Objective) read(s Stratum, columns []Values) error {
	if err := s.Check(); err != nil {
		return err
	}
	if len(s.Places) != len(s.Columns) {
		return fmt.Errorf("has %d columns and %d places", len(s.Columns), len(s.Places))
	}
	for j, c := range s.Columns {
		src, v := columns[s.Places[j]], &o.values[s.Places[j]]
		if v.read && v.of == c { // rows are looked at once, not in each stratum
			continue
		}
		if v.read {
			return fmt.Errorf("column %d: is %s, must be %s as in an earlier stratum", j, c.Family, v.of.Family)
		}
		if err := src.fit(c, len(o.of)); err != nil {
			return fmt.Errorf("column %d: %w", j, err)
		}
		v.read, v.of = true, c
		for i, cell := range src.Cells {
			o.cells[i*len(columns)+s.Places[j]] = cell
		}
		for _, number := range src.Numbers {
			x, y := features(c.Family, number)
			v.x, v.y = append(v.x, x), append(v.y, y)
		}
	}
	return nil
}

// Params implements train.Objective.
func (o *Objective) Params() int { return len(o.theta) }

// PerExample implements train.Objective: no row has a part in another's likelihood.
func (o *Objective) PerExample() (written bool, err error) { return false, nil }

// Prepare computes what all rows of a step share.
func (o *Objective) Prepare(w []float32) {
	for i, v := range w {
		o.theta[i] = float64(v)
	}
	o.set(o.theta)
	o.ready = true
}

// prepared reports whether the tables were last computed for the weights w.
func (o *Objective) prepared(w []float32) bool {
	for i, v := range w {
		if o.theta[i] != float64(v) {
			return false
		}
	}
	return o.ready
}

// set computes the tables at theta.
func (o *Objective) set(theta []float64) {
	o.ready = false
	parallel.Do(parallel.Workers(len(o.tables)), len(o.tables), func(_, s int) {
		o.tables[s].set(theta[o.from[s]:][:o.strata[s].Params()])
	})
}
