package mixture

import (
	"math"
	"math/rand/v2"

	"weir/internal/bitmath"
)

// table is what all rows of a step share: of one mixture at given parameters, by component.
// Numbers of cells stand component by component, so that a row reads them in one run.
type table struct {
	MixtureShape
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

func newTable(m MixtureShape) *table {
	k, cells := m.Components, m.cells()
	t := &table{MixtureShape: m, each: m.each(), logits: make([]float64, k), weights: make([]float64, k),
		logp: make([]float64, cells*k), square: make([]float64, cells*k), prob: make([]float64, cells*k),
		times: make([]float64, m.Params())}
	cell, pos := 0, 0
	for _, c := range m.Columns {
		t.at, t.coded = append(t.at, pos), append(t.coded, c.coded())
		pos += c.params()
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
func (t *table) codes(c Column, p, times []float64, start int) {
	n, stride := c.codes(), t.Components
	if c.Family == Bernoulli {
		rest := [1]float64{-p[0]} // of two categories, the last being 1, whose logit is 0
		p = rest[:]
	}
	softmax(t.logp[start:], t.prob[start:], times, p, stride)
	if c.Family == Bernoulli { // its one parameter is the logit of 1: of 0 it moves by p, of 1 by p-1
		zero, one := t.prob[start], t.prob[start+stride]
		t.square[start], t.square[start+stride], times[0] = one*one, zero*zero, 2*one
		return
	}
	sum := 0.0
	for j := range n - 1 {
		q := t.prob[start+j*stride]
		sum += float64(q * q)
	}
	for j := range n - 1 {
		q := t.prob[start+j*stride]
		t.square[start+j*stride] = math.Max(0, sum-float64(q*q)) + float64((1-q)*(1-q))
	}
	t.square[start+(n-1)*stride] = sum
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

// logGamma draws the logarithm of a Gamma(a, 1) number (Marsaglia, Tsang 2000; below a = 1 as
// Gamma(a+1) U^(1/a)), so that no small a makes it 0.
func logGamma(a float64, r *rand.Rand) float64 {
	boost := 0.0
	if a < 1 {
		boost = bitmath.Log(1-float64(r.Float64())) / a
		a++
	}
	d := a - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		x := bitmath.Normal(r)
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = float64(v * v * v)
		log := bitmath.Log(v)
		if bitmath.Log(1-float64(r.Float64())) < float64(0.5*x*x)+float64(d*(1-v+log)) {
			return bitmath.Log(d) + log + boost
		}
	}
}

// poisson draws a Poisson number: below a rate of 10 by multiplying uniform ones until they
// are below exp(-rate) (Knuth 1969, section 3.4.1), else under a hat. Beyond a rate of 2^40 it is the rate.
func poisson(rate float64, r *rand.Rand) float64 {
	switch {
	case rate > 1<<40:
		return math.Floor(rate)
	case rate >= 10:
		return newHat(rate).draw(r)
	}
	least, n := bitmath.Exp(-rate), 0.0
	for u := r.Float64(); u > least; u *= r.Float64() {
		n++
	}
	return n
}

// hat is what a Poisson law of a rate of 10 or more lies under (Hormann 1993, algorithm PTRS, whose fitted
// numbers these are): a uniform number u from -1/2 to 1/2 becomes (2 bend/(1/2-|u|) + slope) u about
// the rate, whose density is the hat's inverse.
type hat struct {
	rate, slope, bend float64
	top               float64 // 1/alpha: the hat over the law, at most
	sure              float64 // the second number up to which all but the ends are kept
}

func newHat(rate float64) hat {
	slope := 0.931 + float64(2.53*math.Sqrt(rate))
	return hat{rate: rate, slope: slope, bend: float64(0.02483*slope) - 0.059,
		top: 1.1239 + 1.1328/(slope-3.4), sure: 0.9277 - 3.6224/(slope-2)}
}

func (h hat) draw(r *rand.Rand) float64 {
	for {
		u, height := float64(r.Float64())-0.5, 1-float64(r.Float64())
		end := 0.5 - math.Abs(u)
		n := math.Floor(float64((float64(2*h.bend/end)+h.slope)*u) + h.rate + 0.43)
		inside := end >= 0.07 && height <= h.sure
		outside := n < 0 || end < 0.013 && height > end
		if inside || !outside && h.accepts(n, end, height) {
			return n
		}
	}
}

// accepts makes the exact test: height times the hat at n is below the law there.
func (h hat) accepts(n, end, height float64) bool {
	hat := bitmath.Log(height * h.top / (h.bend/float64(end*end) + h.slope))
	return hat <= float64(n*bitmath.Log(h.rate))-h.rate-bitmath.Lgamma(n+1)
}

// numeric is the law of a number in one component. The log density of a number with the
// features x and y (see features) is constant + onX x + onY y - half (x-centre)^2, and the
// gradients of minus it for the two parameters are gradX (x-zeroX) and gradY (y-zeroY), but
// for a normal law, where they are half*2 (centre-x) and 1 - half*2 (x-centre)^2.
type numeric struct {
	normal       bool
	constant     float64
	onX, onY     float64
	half, centre float64
	gradX, zeroX float64
	gradY, zeroY float64
}

// features returns what a law needs of a number: log x and log(1-x) of a Beta one, x and
// log x! of a Poisson one, x of a normal one.
func features(f Family, number float64) (x, y float64) {
	switch f {
	case Beta:
		return bitmath.Log(number), bitmath.Log1p(-number)
	case Poisson:
		return number, bitmath.Lgamma(number + 1)
	}
	return number, 0
}

func newNumeric(f Family, p []float64) numeric {
	switch f {
	case Beta:
		a, b := bitmath.Exp(p[0]), bitmath.Exp(p[1])
		both := digamma(a + b)
		return numeric{constant: bitmath.Lgamma(a+b) - bitmath.Lgamma(a) - bitmath.Lgamma(b), onX: a - 1, onY: b - 1,
			gradX: -a, zeroX: digamma(a) - both, gradY: -b, zeroY: digamma(b) - both}
	case Poisson:
		rate := bitmath.Exp(p[0])
		return numeric{constant: -rate, onX: p[0], onY: -1, gradX: -1, zeroX: rate}
	}
	return numeric{normal: true, constant: -p[1] - float64((math.Ln2+bitmath.Log(math.Pi))/2),
		half: bitmath.Exp(-2*p[1]) / 2, centre: p[0]}
}

// log returns the log density.
func (n *numeric) log(x, y float64) float64 {
	away := x - n.centre
	return n.constant + float64(n.onX*x) + float64(n.onY*y) - float64(n.half*away*away)
}

// grad returns the gradient of minus the log density for the two parameters; parts bounds the sum of the
// squares of what is added up in it.
func (n *numeric) grad(x, y float64) (first, second, parts float64) {
	if n.normal {
		away := x - n.centre
		scaled := 2 * n.half * away
		first, second = -scaled, 1-float64(scaled*away)
		size := 2 * n.half * (math.Abs(x) + math.Abs(n.centre))
		other := 1 + float64(size*(math.Abs(x)+math.Abs(n.centre)))
		return first, second, float64(size*size) + float64(other*other)
	}
	first, second = n.gradX*(x-n.zeroX), n.gradY*(y-n.zeroY)
	size, other := n.gradX*(math.Abs(x)+math.Abs(n.zeroX)), n.gradY*(math.Abs(y)+math.Abs(n.zeroY))
	return first, second, float64(size*size) + float64(other*other)
}

// digamma returns the derivative of the logarithm of the gamma function at x > 0: the recurrence
// up to 10, then the asymptotic series (Abramowitz, Stegun 6.3.5, 6.3.18), whose first term
// left out is below 1e-15 there.
func digamma(x float64) float64 {
	sum := 0.0
	for ; x < 10; x++ {
		sum -= 1 / x
	}
	i := 1 / (x * x)
	series := 691. / 32760
	for _, c := range [...]float64{-1. / 132, 1. / 240, -1. / 252, 1. / 120, -1. / 12} {
		series = c + float64(i*series)
	}
	return sum + bitmath.Log(x) - 0.5/x + float64(i*series)
}
