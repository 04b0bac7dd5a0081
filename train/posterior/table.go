package posterior

import (
	"math"

	"weir/internal/bitmath"
)

// table is what all rows of a step share: of one mixture at given parameters, by component.
// Numbers of cells stand component by component, so that a row reads them in one run.
type table struct {
	Mixture
	each    int
	coded   []bool
	logits  []float64 // logarithms of the weights
	weights []float64
	logp    []float64 // of each code of the coded columns
	square  []float64 // squared norm of the gradient for a column's parameters, of a row that is all the component's
	prob    []float64
	numbers []numeric // of the other columns, column by column
	times   []float64 // by parameter: of a logit, the categories times the probability, which a prior needs
	first   []int     // of each column: its first cell, or its place in numbers
	at      []int     // of each column: its first parameter in a component
}

func newTable(m Mixture) *table {
	k, cells := m.Components, m.cells()
	t := &table{Mixture: m, each: m.each(), logits: make([]float64, k), weights: make([]float64, k),
		logp: make([]float64, cells*k), square: make([]float64, cells*k), prob: make([]float64, cells*k), times: make([]float64, m.Params())}
	cell, at := 0, 0
	for _, c := range m.Columns {
		t.at, t.coded = append(t.at, at), append(t.coded, c.coded())
		at += c.params()
		if c.coded() {
			t.first = append(t.first, cell)
			cell += c.codes()
		} else {
			t.first = append(t.first, len(t.numbers))
			t.numbers = append(t.numbers, make([]numeric, k)...)
		}
	}
	return t
}

// set computes the table at parameters theta.
func (t *table) set(theta []float64) {
	softmax(t.logits, t.weights, t.times, theta[:t.Components-1], 1)
	for k := range t.Components {
		from := t.Components - 1 + k*t.each
		own, times := theta[from:][:t.each], t.times[from:][:t.each]
		for j, c := range t.Columns {
			p := own[t.at[j]:][:c.params()]
			if c.coded() {
				t.codes(c, p, times[t.at[j]:], t.first[j]*t.Components+k)
			} else {
				t.numbers[t.first[j]+k] = newNumeric(c.Family, p)
			}
		}
	}
}

// codes fills in the codes of a column in one component, of which the first stands at from.
func (t *table) codes(c Column, p, times []float64, from int) {
	n, stride := c.codes(), t.Components
	if c.Family == Bernoulli {
		rest := [1]float64{-p[0]} // of two categories, the last being 1, whose logit is 0
		p = rest[:]
	}
	softmax(t.logp[from:], t.prob[from:], times, p, stride)
	if c.Family == Bernoulli { // its one parameter is the logit of 1: of 0 it moves by p, of 1 by p-1
		zero, one := t.prob[from], t.prob[from+stride]
		t.square[from], t.square[from+stride], times[0] = one*one, zero*zero, 2*one
		return
	}
	sum := 0.0
	for j := range n - 1 {
		q := t.prob[from+j*stride]
		sum += float64(q * q)
	}
	for j := range n - 1 {
		q := t.prob[from+j*stride]
		t.square[from+j*stride] = math.Max(0, sum-float64(q*q)) + float64((1-q)*(1-q))
	}
	t.square[from+(n-1)*stride] = sum
}

// softmax sets the logarithms and probabilities of len(x)+1 categories, the last of which has
// the logit 0, every stride places, and for each of x their number times its probability.
func softmax(logs, probs, times, x []float64, stride int) {
	top, n := 0.0, len(x)
	for _, v := range x {
		top = max(top, v)
	}
	last, sum := bitmath.Exp(-top), 0.0
	total := last
	probs[n*stride] = last
	for j, v := range x {
		e := bitmath.Exp(v - top)
		probs[j*stride] = e
		total += e
		sum += e
	}
	sum += last
	log := top + bitmath.Log(total)
	logs[n*stride] = -log
	probs[n*stride] /= total
	for j, v := range x {
		logs[j*stride] = v - log
		times[j] = float64(n+1) * probs[j*stride] / sum
		probs[j*stride] /= total
	}
}
