package train

import (
	"math/rand/v2"

	"weir/train/net"
)

// start gives a net its first weights.
func (c GSWGANConfig) start(n *net.Net, r *rand.Rand) []float32 {
	if c.NormalStart {
		return n.InitNormal(r)
	}
	return n.Init(r)
}

// keepRoom makes room for the generators that will be kept; they are a part of the
// checkpoint.
func (l *gsLoop) keepRoom() {
	for t := l.c.Every; l.c.Every > 0 && t < l.q.Steps; t += l.c.Every {
		l.kept = append(l.kept, Iterate{Step: t})
	}
	l.kept = append(l.kept, Iterate{Step: l.q.Steps})
	for i := range l.kept {
		l.kept[i].Weights = make([]float32, len(l.generator.w))
		l.state.vectors = append(l.state.vectors, l.kept[i].Weights)
	}
}

// keep copies the generator where its step is one to keep. Released generators are
// functions of the noised gradients, so that any number of them costs nothing.
func (l *gsLoop) keep() {
	for _, k := range l.kept {
		if k.Step == l.generator.t {
			copy(k.Weights, l.average.of(l.generator))
		}
	}
}
