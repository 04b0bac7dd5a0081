package train

import (
	"weir/train/net"
)

// paired is the loss D(generated) - D(real) of a private row and a generated row of
// the step's pool, as one example (Tantipongpipat et al. 2021, algorithm 4). The pool is
// public; which of its rows a private row meets is a secret draw of its own, so that
// adding a row does not move the partners of others in the distribution of what is
// released.
type paired struct {
	critic *net.Net
	rows   *Rows
	pool   net.Matrix // of the step at hand
}

// Joined is a private row and a generated one.
func (o *paired) Joined() int { return 2 }

func (o *paired) Params() int                           { return o.critic.Params() }
func (o *paired) PerExample() (written bool, err error) { return o.critic.PerExample() }

func (o *paired) Worker(rows int) Worker {
	return &pairedWorker{paired: o, Pass: o.critic.NewPass(2 * rows), scale: make([]float32, 2*rows)}
}

type pairedWorker struct {
	*paired
	*net.Pass
	scale []float32
}

func (k *pairedWorker) Run(w []float32, index []int32, draw Draw, loss []float64) {
	n, r := len(index), draw()
	x := k.Input(2 * n)
	k.rows.Gather(x.Slice(0, n), index)
	for i := range n {
		copy(x.Row(n+i), k.pool.Row(r.IntN(k.pool.Rows)))
	}
	y := k.Forward(w, net.Mode{Train: true, Rand: r})
	d := k.OutGrad()
	clear(d.Data)
	for i := range n {
		d.Row(i)[0], d.Row(n + i)[0] = -1, 1
	}
	for i := range loss {
		loss[i] = float64(y.Row(n + i)[0]) - float64(y.Row(i)[0])
	}
	k.Backward(w)
	k.FixLastBias() // what the critic adds to every score cancels in each pair
}

// Accumulate gives both rows of an example its one factor.
func (k *pairedWorker) Accumulate(grad, scale []float32) {
	if scale == nil {
		k.Pass.Accumulate(grad, nil)
		return
	}
	n := len(scale)
	all := k.scale[:2*n]
	copy(all, scale)
	copy(all[n:], scale)
	k.Pass.Accumulate(grad, all)
}
