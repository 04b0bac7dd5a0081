package marginal

import "math/rand/v2"

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
