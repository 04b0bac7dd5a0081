package train

import (
	"runtime"

	"weir/privacy/noise"
	"weir/train/internal/kernel"
)

// aheadWeights is from how many weights on the noise is drawn ahead: below, the
// hand-over between goroutines costs as much as the noise (2300 weights took 47 us a
// step on two cores and 45 on one).
const aheadWeights = 4096

// ahead draws the noise of coming steps beside the gradients, two steps ahead. It
// depends on the step only, so the bits are those of noise drawn in its turn.
type ahead struct {
	ready, free chan []float32
	done        chan struct{}
}

// drawAhead starts drawing from step t on, where there is a core for it, and
// returns what ends it.
func (s *stepper) drawAhead(t int) (stop func()) {
	exact := s.c.sigma() <= 0x1p20*s.lattice.Step // 16 sigma are 2^24 steps: float32 holds the noise alone
	if s.c.NoiseMultiplier == 0 || runtime.GOMAXPROCS(0) == 1 || len(s.sum) < aheadWeights || !exact {
		return func() {}
	}
	a := &ahead{ready: make(chan []float32, 2), free: make(chan []float32, 2), done: make(chan struct{})}
	for range cap(a.free) {
		a.free <- make([]float32, len(s.sum))
	}
	s.ahead = a
	go a.run(s.source, s.c, s.lattice, t)
	return func() { close(a.done); s.ahead = nil }
}

func (a *ahead) run(source *noise.Source, c DPSGD, l noise.Lattice, t int) {
	for ; t < c.Steps; t++ {
		select {
		case <-a.done:
			return
		case x := <-a.free:
			clear(x)
			source.Stream("noise", uint64(t)).LatticeGaussian(x, c.sigma(), l.Step)
			a.ready <- x // never full: it has room for every buffer
		}
	}
}

// addNoise rounds the clipped sum to the lattice and adds step t's noise. Drawn
// ahead or in place gives the same bits: both round the exact sum of two float32
// once.
func (s *stepper) addNoise(t int) {
	if s.c.NoiseMultiplier == 0 {
		return
	}
	kernel.LatticeRound(s.sum, float32(s.lattice.Step))
	if s.ahead == nil {
		s.source.Stream("noise", uint64(t)).LatticeGaussian(s.sum, s.c.sigma(), s.lattice.Step)
		return
	}
	x := <-s.ahead.ready
	kernel.Add(s.sum, s.sum, x)
	s.ahead.free <- x
}
