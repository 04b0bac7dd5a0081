package net

import "slices"

// A layer is bent where its tangent depends on its input, as batch_norm's does through the mean
// and deviation of its rows. The gradient of a penalty by the weights below has a second part then:
// what a change of that input does to the sum of all tangents at the output. bend finds it on
// the interpolates once more, run as a batch of their own: each bent layer adds its part to the
// gradient on its way back, which began with zeros at the output.
type bend struct {
	*Pass
	most int // rows that there is room for
}

// bent is an op of that kind. addBend adds to dx, at its input, the derivative of the sum of
// tangents that pushed, the same layer with tangents from row lo on, has at its output, each weighted by the gradient
// there. Both ran on the same inputs of these rows.
type bent interface {
	addBend(w []float32, dx Matrix, pushed op, lo int)
}

func isBent(o op) bool {
	_, ok := o.(bent)
	return ok
}

// beforePush runs the interpolates x on their own, before tangents overwrite them.
func (p *Pass) beforePush(w []float32, x Matrix) {
	if p.bend == nil || p.bend.most < x.Rows {
		if !slices.ContainsFunc(p.ops, isBent) {
			return
		}
		p.bend = &bend{Pass: p.net.NewPass(x.Rows), most: x.Rows}
	}
	p.bend.Input(x.Rows).CopyFrom(x)
	p.bend.Forward(w, Mode{Train: true, Frozen: true})
}

// afterPush leaves in the layers of b what Accumulate adds to the gradient of pushed.
func (b *bend) afterPush(w []float32, pushed []op, lo int) {
	dy := b.OutGrad()
	clear(dy.all())
	for i := len(b.ops) - 1; i >= 0; i-- {
		of := w[b.net.offsets[i]:]
		dy = b.ops[i].backward(of, dy, 0)
		if o, ok := b.ops[i].(bent); ok {
			o.addBend(of, dy, pushed[i], lo)
		}
	}
}
