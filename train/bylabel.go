package train

import (
	"fmt"
	"math/rand/v2"

	"weir/train/net"
)

// eachDraws is a worker that can give each row draws of its own.
type eachDraws interface {
	draws() bool
	drawEach(rows []*rand.Rand) // of the next Run
}

// ByLabel trains Count copies of an objective at once, one for the rows of each label
// (Abay et al. 2018 train an autoencoder a label). The weights begin with label 0's,
// then of label 1, and so on.
//
// A row's gradient is zero but for the weights of its own label, and one clip covers
// all weights. So under add_remove a row moves the sum of a step by at most the clip;
// a row that is replaced, by at most two clips, also where its label changes: then
// it is one removal and one addition. Both labels share the row's one coin, the coin
// of its step, so a step is one Poisson-sampled Gaussian release for all labels
// together, whatever their sizes, which nobody needs to know. Draws, where Each has
// any, belong to a row's place in the chunk, not among the rows of its label: else a row
// that changes its label would shift the draws of others (eachDraws; one that shares a
// stream instead, as Variational, keeps the bound over its secret draws alone).
type ByLabel struct {
	Each   Objective
	Labels []int32 // of each row, from 0 to Count-1
	Count  int
}

// NewByLabel returns an error where a label has no weights.
func NewByLabel(each Objective, labels []int32, count int) (*ByLabel, error) {
	for _, l := range labels {
		if l < 0 || int(l) >= count {
			return nil, fmt.Errorf("by label: holds a label that is none, must be from 0 to %d", count-1)
		}
	}
	return &ByLabel{each, labels, count}, nil
}

func (o *ByLabel) Params() int                           { return o.Count * o.Each.Params() }
func (o *ByLabel) PerExample() (written bool, err error) { return o.Each.PerExample() }

func (o *ByLabel) Worker(rows int) Worker {
	k := &byLabelWorker{ByLabel: o, labels: make([]labelWorker, o.Count), square: make([]float64, rows),
		bound: make([]float64, rows), scale: make([]float32, rows), source: make([]rand.PCG, rows), of: make([]int32, rows)}
	for l := range k.labels {
		k.labels[l].Worker = o.Each.Worker(rows)
	}
	return k
}

type byLabelWorker struct {
	*ByLabel
	labels        []labelWorker
	of            []int32 // the label of each example of the chunk
	square, bound []float64
	scale         []float32
	source        []rand.PCG // of the rows of a chunk, where they draw
	each          []*rand.Rand
}

// Span returns the span of the weights of the example's own label.
func (k *byLabelWorker) Span(i int) (from, to int) {
	each := k.Each.Params()
	return int(k.of[i]) * each, (int(k.of[i]) + 1) * each
}

// labelWorker is the part of a chunk that has one label.
type labelWorker struct {
	Worker
	index []int32 // rows
	at    []int   // where they stand in the chunk
	each  []*rand.Rand
}

func (k *byLabelWorker) Run(w []float32, index []int32, draw Draw, loss []float64) {
	for l := range k.labels {
		k.labels[l].index, k.labels[l].at = k.labels[l].index[:0], k.labels[l].at[:0]
	}
	for i, row := range index {
		k.of[i] = k.Labels[row]
		p := &k.labels[k.of[i]]
		p.index, p.at = append(p.index, row), append(p.at, i)
	}
	var sample *rand.Rand
	once := func() *rand.Rand {
		if sample == nil {
			sample = draw()
		}
		return sample
	}
	k.drawEach(once, len(index))
	each := k.Each.Params()
	for l, p := range k.labels {
		if len(p.index) == 0 {
			continue
		}
		var items []float64
		if loss != nil {
			items = k.square[:len(p.index)]
		}
		p.Run(w[l*each:][:each], p.index, once, items)
		for j, v := range items {
			loss[p.at[j]] = v
		}
	}
}

// drawEach seeds the draws of n rows from the draws of their chunk, in its order.
func (k *byLabelWorker) drawEach(draw Draw, n int) {
	if d, ok := k.labels[0].Worker.(eachDraws); !ok || !d.draws() {
		return
	}
	for i := len(k.each); i < len(k.square); i++ {
		k.each = append(k.each, rand.New(&k.source[i]))
	}
	r := draw()
	for i := range n {
		k.source[i].Seed(r.Uint64(), r.Uint64())
	}
	for l := range k.labels {
		p := &k.labels[l]
		p.each = p.each[:0]
		for _, at := range p.at {
			p.each = append(p.each, k.each[at])
		}
		p.Worker.(eachDraws).drawEach(p.each)
	}
}

func (k *byLabelWorker) Squares(dst, bound []float64) {
	for _, p := range k.labels {
		n := len(p.index)
		clear(k.square[:n])
		clear(k.bound[:n])
		if n > 0 {
			p.Squares(k.square[:n], k.bound[:n])
		}
		for j, i := range p.at {
			dst[i] += k.square[j]
			bound[i] += k.bound[j]
		}
	}
}

func (k *byLabelWorker) Accumulate(grad, scale []float32) {
	each := k.Each.Params()
	for l, p := range k.labels {
		if len(p.index) == 0 {
			continue
		}
		items := scale
		if scale != nil {
			items = k.scale[:len(p.index)]
			for j, i := range p.at {
				items[j] = scale[i]
			}
		}
		p.Accumulate(grad[l*each:][:each], items)
	}
}

// Encode returns what a net makes of each listed row, len(index)×n.Out().
func Encode(n *net.Net, w []float32, x *Rows, index []int32) []float32 {
	p := n.NewPass(min(len(index), chunkRows))
	out := make([]float32, 0, len(index)*n.Out())
	for ; len(index) > 0; index = index[min(len(index), chunkRows):] {
		some := index[:min(len(index), chunkRows)]
		x.Gather(p.Input(len(some)), some)
		y := p.Forward(w, net.Mode{})
		for i := range y.Rows {
			out = append(out, y.Row(i)...)
		}
	}
	return out
}
