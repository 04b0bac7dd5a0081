package train

import "weir/privacy"

// batches says which rows each step of a paid DPSGD meets: a Poisson sample of its own,
// or the next piece of the epoch's shuffle.
type batches struct {
	c     DPSGD
	n     int     // rows of the table
	order []int32 // of the epoch at hand; nil for Poisson samples
}

func newBatches(c DPSGD, n int) *batches {
	b := &batches{c: c, n: n}
	if c.Shuffle > 0 {
		b.order = make([]int32, c.Shuffle)
	}
	return b
}

// draw returns in dst[:0], grown as needed, the rows of step t.
func (b *batches) draw(dst []int32, use *privacy.Use, t int) []int32 {
	if b.order == nil {
		return use.Stream("sample", 0).Poisson(dst, b.n, b.c.SamplingRate)
	}
	at := t % b.c.epoch()
	if at == 0 {
		b.shuffle(use)
	}
	from := at * b.c.batch()
	dst = dst[:0]
	for _, row := range b.order[from:min(from+b.c.batch(), len(b.order))] {
		if int(row) < b.n { // what is not there is an empty place, so that no row moves another
			dst = append(dst, row)
		}
	}
	return dst
}

// shuffle draws the order of an epoch, uniform over all, from the use of its first step
// (Fisher, Yates; Durstenfeld 1964).
func (b *batches) shuffle(use *privacy.Use) {
	r := use.Stream("shuffle", 0)
	for i := range b.order {
		b.order[i] = int32(i)
	}
	for i := len(b.order) - 1; i > 0; i-- {
		j := r.Uint64n(uint64(i) + 1)
		b.order[i], b.order[j] = b.order[j], b.order[i]
	}
}

// addOrder makes the order of the epoch at hand a part of the checkpoint: the use that it
// was drawn from cannot be taken again.
func (s *state) addOrder(b *batches) {
	if b.order != nil {
		s.orders = append(s.orders, b.order)
	}
}
