package train

import (
	"errors"
	"runtime"

	"weir/privacy"
	"weir/privacy/noise"
)

// aheadWeights is from how many weights on the noise is drawn ahead: below, the
// hand-over between goroutines costs as much as the noise (2300 weights took 47 us a
// step on two cores and 45 on one).
const aheadWeights = 4096

// ahead draws the noise of coming steps beside the gradients, two steps ahead. It
// depends on the step only, so the bits are those of noise drawn in its turn.
type ahead struct {
	ready chan drawn
	free  chan []float32
	done  chan struct{}
}

// drawn is the noise of a step, with the use that it was drawn from.
type drawn struct {
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
	a := &ahead{ready: make(chan drawn, 2), free: make(chan []float32, 2), done: make(chan struct{})}
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
			a.ready <- drawn{err: errors.New("an internal error while noise was drawn ahead")}
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
			a.ready <- drawn{use, x, err} // never full: it has room for every buffer
			if err != nil {
				return
			}
		}
	}
}
