package train

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"weir/privacy"
	"weir/privacy/noise"
	"weir/train/internal/kernel"
)

// stepper produces the noisy clipped sum of each step of a paid DPSGD: the only
// place where private rows meet a learned weight.
type stepper struct {
	*gradient
	c       DPSGD
	paid    *privacy.Handle
	lattice noise.Lattice
	batches *batches
	worst   *Worst  // nil: every row of a batch has its gradient
	index   []int32 // rows of the latest step
	ahead   *ahead  // nil: noise is drawn in its turn
}

// newStepper takes every parameter of the mechanism from what was paid for.
func newStepper(paid *privacy.Handle, o Objective, start []float32, n int) (*stepper, error) {
	if paid == nil {
		return nil, errors.New("paid: is missing; open the planned mechanism first")
	}
	c, ok := paid.Mechanism().(DPSGD)
	if !ok {
		return nil, fmt.Errorf("paid: is %T, must be DP-SGD: %w", paid.Mechanism(), privacy.ErrUses)
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Weights != 0 && c.Weights != o.Params() {
		return nil, fmt.Errorf("paid: is for %d weights, must be for the %d of the objective", c.Weights, o.Params())
	}
	if len(start) != o.Params() {
		return nil, fmt.Errorf("start: has %d weights, must have the %d of the objective", len(start), o.Params())
	}
	if c.clips() {
		_, err := o.PerExample()
		if err := errors.Join(err, checkJoined(o, c.Joined)); err != nil {
			return nil, err
		}
	}
	tensors := 0
	if c.clips() && c.Tensors > 0 {
		if err := checkTensors(o, c.Tensors); err != nil {
			return nil, err
		}
		tensors = c.Tensors
	}
	l, err := c.lattice(o.Params())
	if err != nil {
		return nil, err
	}
	g := newGradient(o, c.tensorClip(l.Clip), tensors)
	g.parts = c.parts()
	return &stepper{gradient: g, c: c, paid: paid, lattice: l, batches: newBatches(c, n)}, nil
}

// leaveOut drops the worst rows of every batch, of a table of n rows.
func (s *stepper) leaveOut(w *Worst, n int) error {
	s.worst = w
	return w.check(n, s.c.ExpectedBatchSize, 0)
}

// divisor returns the public size that a noisy sum is divided by.
func (s *stepper) divisor() float64 { return s.worst.less(s.c.ExpectedBatchSize) }

// noisySum sets sum to the noisy sum of the clipped gradients of step t's sample, without
// its worst rows.
func (s *stepper) noisySum(w []float32, t int, wantLoss bool) error {
	sample, err := s.begin(t)
	if err != nil {
		return err
	}
	s.index = s.batches.draw(s.index, s.use, t)
	s.omit = s.worst.omitted(s.index)
	if s.c.NoiseMultiplier > 0 && len(s.index) > s.c.room() {
		s.addNoise64(s.exact(w, s.index, wantLoss), sample)
		return nil
	}
	s.compute(w, s.index, wantLoss)
	if err := s.diverged(t); err != nil {
		return err
	}
	s.addNoise(sample)
	return nil
}

// diverged refuses a sum that is not finite, where nothing is clipped and no noise added (epsilon: inf): every
// later weight would be NaN. A clipped sum is always finite, and what no noise covers is nobody's secret, so
// that the error tells of no row that was promised otherwise.
func (s *stepper) diverged(t int) error {
	if s.c.clips() {
		return nil
	}
	for _, v := range s.sum {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("step %d: the sum of the gradients is not a finite number, must be: without noise nothing is "+
				"clipped, "+
				"so numbers need bounds, or moments in encode (standard) that they are near to", t+1)
		}
	}
	return nil
}

// begin takes the use of step t, with its noise where that was drawn ahead.
func (s *stepper) begin(t int) (drawn []float32, err error) {
	if s.ahead == nil {
		s.use, err = s.paid.Use(int64(t))
		return nil, err
	}
	next := <-s.ahead.ready
	s.use = next.use
	return next.noise, next.err
}

// addNoise rounds the clipped sum to the lattice and adds the step's noise. Drawn
// ahead or in place gives the same bits: both round the exact sum of two float32
// once.
func (s *stepper) addNoise(sample []float32) {
	if s.c.NoiseMultiplier == 0 {
		copy(s.sum, privacy.Release(s.use, s.sum, s.sum))
		return
	}
	var in []float32
	if sample != nil || s.use.Probed() {
		kernel.LatticeRound(s.sum, float32(s.lattice.Step))
	}
	if s.use.Probed() {
		in = slices.Clone(s.sum)
	}
	if sample == nil {
		s.use.Stream("noise", 0).LatticeGaussian(s.sum, s.c.sigma(), s.lattice.Step) // which rounds, too
	} else {
		kernel.Add(s.sum, s.sum, sample)
		s.ahead.free <- sample
	}
	copy(s.sum, privacy.Release(s.use, in, s.sum))
}

// addNoise64 does the same to a float64 sum. float64 holds every lattice point up
// to 2^53 steps; the result is rounded to float32 once, after the noise, so it is a
// function of the Gaussian mechanism's output alone.
func (s *stepper) addNoise64(sum []float64, sample []float32) {
	noise.RoundToLattice(sum, s.lattice.Step)
	var in []float64 // as float32 it would move by more than the clip
	if s.use.Probed() {
		in = slices.Clone(sum)
	}
	if sample == nil {
		s.use.Stream("noise", 0).LatticeGaussian64(sum, s.c.sigma(), s.lattice.Step)
	}
	for i, v := range sum {
		if sample != nil {
			v += float64(sample[i])
		}
		s.sum[i] = float32(v)
	}
	if sample != nil {
		s.ahead.free <- sample
	}
	copy(s.sum, privacy.Release(s.use, in, s.sum))
}

func (s *stepper) meanLoss() float64 { return s.loss / float64(max(1, len(s.index))) }

// aheadWeights is from how many weights on the noise is drawn ahead: below, the
// hand-over between goroutines costs as much as the noise (2300 weights took 47 us a
// step on two cores and 45 on one).
const aheadWeights = 4096

// ahead draws the noise of coming steps beside the gradients, two steps ahead. It
// depends on the step only, so the bits are the bits of noise drawn in its turn.
type ahead struct {
	ready chan noiseDraw
	free  chan []float32
	done  chan struct{}
}

// noiseDraw is the noise of a step, with the use that it was drawn from.
type noiseDraw struct {
	use   *privacy.Use
	noise []float32
	err   error
}

// drawAhead starts drawing from step t on, where there is a core for it, and
// returns what ends it.
func (s *stepper) drawAhead(t int) (stop func()) {
	exact := s.c.sigma() <= 0x1p20*s.lattice.Step // 16 sigma are 2^24 steps: float32 holds the noise alone
	if s.c.NoiseMultiplier == 0 || runtime.GOMAXPROCS(0) == 1 || len(s.sum) < aheadWeights || !exact {
		return func() {}
	}
	a := &ahead{ready: make(chan noiseDraw, 2), free: make(chan []float32, 2), done: make(chan struct{})}
	for range cap(a.free) {
		a.free <- make([]float32, len(s.sum))
	}
	s.ahead = a
	go a.run(s.paid, s.c, s.lattice, t)
	return func() { close(a.done); s.ahead = nil }
}

func (a *ahead) run(paid *privacy.Handle, c DPSGD, l noise.Lattice, t int) {
	defer func() {
		if recover() != nil {
			a.ready <- noiseDraw{err: errors.New("an internal error while noise was drawn ahead")}
		}
	}()
	for ; t < c.Steps; t++ {
		select {
		case <-a.done:
			return
		case x := <-a.free:
			use, err := paid.Use(int64(t))
			if err == nil {
				clear(x)
				use.Stream("noise", 0).LatticeGaussian(x, c.sigma(), l.Step)
			}
			a.ready <- noiseDraw{use, x, err} // never full: it has room for every buffer
			if err != nil {
				return
			}
		}
	}
}

// rowGradients adds the examples whose parts cancel, each on its own: a float32 sum over many
// rows errs by the size of the parts, which can be any number of clips long where the gradient
// itself is within one.
//
// What is clipped is the example's gradient as float32 gives it, rounding and all: a function
// of its private row, the weights and draws of its own, since a row of scale zero leaves
// no trace in the sum of a chunk. Its norm is the norm of the numbers at hand, so none of it is hidden, and
// what is added is at most a clip long like any other example.
type rowGradients struct {
	grad, scale []float32
	which       []int
}

// spanned are workers of which an example's gradient is zero outside of a part of the weights,
// where Accumulate writes nothing for it.
type spanned interface{ Span(i int) (from, to int) }

func spanOf(w Worker, i, all int) (from, to int) {
	if s, ok := w.(spanned); ok {
		return s.Span(i)
	}
	return 0, all
}

// pick lists the examples whose parts would stay longer than parts clips once they are clipped,
// and sets their factors to zero. One whose parts are over 2^100 clips has none, and one of omit is not
// listed.
func (a *rowGradients) pick(factor []float32, square, bound []float64, clip, parts float64, omit []bool) {
	a.which = a.which[:0]
	if math.IsInf(parts, 1) {
		return
	}
	for i := range factor {
		all := math.Sqrt(bound[i])
		if all <= parts*math.Max(clip, longest(square[i], bound[i])) {
			continue
		}
		factor[i] = 0
		if all <= clip*0x1p100 && (omit == nil || !omit[i]) {
			a.which = append(a.which, i)
		}
	}
}

// all picks every one of n examples but the ones that omit marks: the examples of a net whose gradient adds up parts of
// one example (net.Net.PerExample), of which no bound is at hand.
func (a *rowGradients) all(n int, omit []bool) {
	a.which = a.which[:0]
	for i := range n {
		if omit == nil || !omit[i] {
			a.which = append(a.which, i)
		}
	}
}

// add adds the clipped gradients of the examples picked to grad. n is how many the chunk has.
func (a *rowGradients) add(w Worker, grad []float32, n int, clip float64) {
	if len(a.which) == 0 {
		return
	}
	if a.grad == nil {
		a.grad, a.scale = make([]float32, len(grad)), make([]float32, joinedRows)
	}
	for _, i := range a.which {
		start, end := spanOf(w, i, len(grad))
		ownValue := a.grad[start:end]
		clear(ownValue)
		a.scale[i] = 1
		w.Accumulate(a.grad, a.scale[:n])
		a.scale[i] = 0
		if factor := rowFactor(ownValue, clip); factor > 0 {
			kernel.Axpy(factor, ownValue, grad[start:end])
		}
	}
}

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
	pos := t % b.c.epoch()
	if pos == 0 {
		b.shuffle(use)
	}
	from := pos * b.c.batch()
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
