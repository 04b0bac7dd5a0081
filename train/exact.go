package train

// exact adds up the clipped gradients of the listed rows one at a time, in
// float64: the way of batches larger than float32 sums are paid for.
//
// Every row's gradient, rounded to float32, is a function of that row, the weights
// and draws of its own, so two neighbours' sums differ by one of them, whatever the
// number of rows, but for rows*2^-52 clips (DPSGD.lattice). It costs some 50 times
// as much a row as chunks do; who declares an expected_batch_size near the true one
// never comes here.
func (g *gradient) exact(w []float32, index []int32, wantLoss bool) []float64 {
	if g.total == nil {
		g.total = make([]float64, len(g.sum))
	}
	clear(g.total)
	g.loss = 0
	l := g.lane(0)
	for i := range index {
		g.chunk(l, w, index[i:i+1], i, wantLoss)
		for j, v := range l.grad {
			g.total[j] += float64(v)
		}
		g.loss += sumOf(l.loss, 1, wantLoss)
	}
	return g.total
}
