package train

import (
	"math/rand/v2"

	"weir/train/net"
)

// scoreLoss is a loss of a critic's one output (net.Wasserstein, net.Logistic): sign -1 asks for
// a higher score, as of a real row, and +1 for a lower one.
type scoreLoss func(dy, y net.Matrix, sign float32, loss []float64)

// realScore is the loss of a private row, which a critic is to score high.
type realScore struct {
	critic *net.Net
	rows   *Rows
	loss   scoreLoss
}

func (o realScore) Params() int                           { return o.critic.Params() }
func (o realScore) PerExample() (written bool, err error) { return o.critic.PerExample() }

// Tensors is the number of weight tensors, for a clip of each.
func (o realScore) Tensors() (int, error) { return len(o.critic.Tensors()), o.critic.PerTensor() }

func (o realScore) Worker(rows int) Worker {
	return &realScoreWorker{realScore: o, Pass: o.critic.NewPass(rows)}
}

type realScoreWorker struct {
	realScore
	*net.Pass
	each []*rand.Rand // of the rows of the next Run; nil: they share the chunk's
}

func (k *realScoreWorker) Run(w []float32, index []int32, draw Draw, loss []float64) {
	k.rows.Gather(k.Input(len(index)), index)
	m := net.Mode{Train: true, Rows: k.each}
	if k.each == nil {
		m.Rand = lazy(k.critic, draw)
	}
	y := k.Forward(w, m)
	k.loss(k.OutGrad(), y, -1, loss)
	k.Backward(w)
}

// drawEach implements eachDraws.
func (k *realScoreWorker) drawEach(rows []*rand.Rand) { k.each = rows }

// draws implements eachDraws.
func (k *realScoreWorker) draws() bool { return k.critic.Draws() }
