package train

// exact adds up the clipped gradients of the listed rows one at a time, in pairs of
// float64: the way of batches larger than float32 sums are paid for.
//
// Every row's gradient, rounded to float32, is a function of that row, the weights
// and draws of its own, so two neighbours' sums differ by one of them. A plain
// float64 sum would not do: it rounds every later addend by where it stands, and n
// rows err by n^2 2^-54 clips. A pair of float64 errs by n^2 2^-104 in all (each
// addition by 2^-104 of a sum of at most n clips: Dekker 1971; Joldes, Muller,
// Popescu 2017, algorithm 4), below 2^-42 clips for the 2^31 rows that an index can
// name; the rounding of the pair to one float64 at the end adds 2^-54 n, below 2^-23
// clips. It costs some 50 times as much a row as chunks do; who declares an
// expected_batch_size near the true one never comes here.
func (g *gradient) exact(w []float32, index []int32, wantLoss bool) []float64 {
	if g.total == nil {
		g.total = make([]float64, len(g.sum))
	}
	low := make([]float64, len(g.sum))
	clear(g.total)
	g.loss = 0
	g.prepare(w)
	l := g.lane(0)
	for i := range index {
		g.chunk(l, w, index[i:i+1], i, i, wantLoss)
		for j, v := range l.grad {
			g.total[j], low[j] = addPair(g.total[j], low[j], float64(v))
		}
		g.loss += sumOf(l.loss, 1, wantLoss)
	}
	for j, v := range low {
		g.total[j] += v
	}
	return g.total
}

// addPair adds x to the number high + low. No product is in it that a compiler
// could fuse.
func addPair(high, low, x float64) (float64, float64) {
	sum := high + x
	back := sum - high
	rest := (high - (sum - back)) + (x - back) // the error of sum, exactly (Knuth's TwoSum)
	rest += low
	top := sum + rest
	return top, rest - (top - sum)
}
