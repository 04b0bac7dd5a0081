package marginal

import (
	"math"
	"math/rand/v2"

	"weir/internal/bitmath"
	"weir/train/histogram"
)

// Swapped is the table whose synthetic rows are the real ones too.
func (t *Table) Swapped() *Table {
	s := &Table{Real: t.Real, Synth: t.Real, Columns: append([]Column(nil), t.Columns...)}
	for i := range s.Columns {
		s.Columns[i].Synth = s.Columns[i].Real
	}
	return s
}

// Independent is the table whose synthetic rows, as many as those of like, are
// drawn column by column, with replacement, from the synthetic rows of t, which
// has some: every 1-way marginal is kept, every association is lost.
func (t *Table) Independent(like *Table, rng *rand.Rand) *Table {
	out := &Table{Real: t.Real, Synth: like.Synth, Columns: append([]Column(nil), t.Columns...)}
	for i := range out.Columns {
		from := t.Columns[i].Synth
		drawn := make([]uint16, like.Synth)
		for k := range drawn {
			drawn[k] = from[rng.Uint64N(uint64(t.Synth))]
		}
		out.Columns[i].Synth = drawn
	}
	return out
}

// Noisy is Independent with Gaussian noise of the given standard deviation on the
// counts that its columns are drawn from: what a release of single columns leaves.
// Counts become the nearest shares that are not negative.
func (t *Table) Noisy(like *Table, sd float64, rng *rand.Rand) *Table {
	out := &Table{Real: t.Real, Synth: like.Synth, Columns: append([]Column(nil), t.Columns...)}
	for i := range out.Columns {
		shares := histogram.Simplex(t.Columns[i].released(sd, rng), 1)
		out.Columns[i].Synth = spread(shares, like.Synth, rng)
	}
	return out
}

// released are the noisy shares of the cells and, where values are missing, of these;
// -Inf for codes that nothing can have.
func (c *Column) released(sd float64, rng *rand.Rand) []float64 {
	shares := make([]float64, c.Size)
	for _, v := range c.Synth {
		shares[v]++
	}
	for k := range shares {
		if k >= c.Cells && shares[k] == 0 {
			shares[k] = math.Inf(-1)
			continue
		}
		shares[k] = (shares[k] + float64(sd*bitmath.Normal(rng))) / float64(len(c.Synth))
	}
	return shares
}

// spread is n codes in random order, each as often as its share says.
func spread(shares []float64, n int, rng *rand.Rand) []uint16 {
	codes := make([]uint16, n)
	at, below, u := 0, shares[0], float64(rng.Float64())
	for i := range codes {
		for place := (float64(i) + u) / float64(n); place >= below && at+1 < len(shares); below += shares[at] {
			at++
		}
		codes[i] = uint16(at)
	}
	rng.Shuffle(n, func(i, j int) { codes[i], codes[j] = codes[j], codes[i] })
	return codes
}

// Sample is the table whose synthetic rows are those of t at the given places.
func (t *Table) Sample(places []int) *Table {
	out := &Table{Real: t.Real, Synth: len(places), Columns: append([]Column(nil), t.Columns...)}
	for i := range out.Columns {
		drawn := make([]uint16, len(places))
		for k, at := range places {
			drawn[k] = t.Columns[i].Synth[at]
		}
		out.Columns[i].Synth = drawn
	}
	return out
}
