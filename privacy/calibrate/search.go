package calibrate

import (
	"math"

	"weir/internal/bitmath"
	"weir/privacy"
)

// search finds the least x > 0 with at(x) in ((1-tightness) want, want], for at
// that falls in x. It works on logarithms, where epsilon is close to a power of
// the noise, by the method of false position with bisection as its guard.
type search struct {
	want float64
	at   func(x float64) (float64, error)

	start, step float64 // log x to begin at, and the first step away from it
	low, high   float64 // log x: at(low) is above want, at(high) is not
	flow, fhigh float64 // log at(x) - log want; flow may be +Inf
}

func (s *search) value(logX float64) (float64, error) {
	y, err := s.at(bitmath.Exp(logX))
	if err != nil {
		return 0, err
	}
	y = privacy.ProvenEpsilon(y)
	return bitmath.Log(y) - bitmath.Log(s.want), nil // at 0 this is -Inf, which is below every target
}

func (s *search) run() (float64, error) {
	if err := s.bracket(); err != nil {
		return 0, err
	}
	// 200 halvings of the widest bracket go far below the spacing of floats.
	for range 200 {
		if s.fhigh > bitmath.Log1p(-tightness) || s.high-s.low < 1e-12 {
			break
		}
		if err := s.narrow(); err != nil {
			return 0, err
		}
	}
	return bitmath.Exp(s.high), nil
}

// bracket walks from start in growing steps until want lies between.
func (s *search) bracket() error {
	if s.step == 0 {
		s.step = bitmath.Log(4)
	}
	f, err := s.value(s.start)
	if err != nil {
		return err
	}
	s.low, s.high, s.flow, s.fhigh = s.start, s.start, f, f
	for s.fhigh > 0 {
		if s.high >= bitmath.Log(utmostNoise) {
			return &InfeasibleError{Reachable: bitmath.Exp(s.fhigh + bitmath.Log(s.want))}
		}
		s.low, s.flow = s.high, s.fhigh
		s.high = math.Min(s.high+s.step, bitmath.Log(utmostNoise))
		s.step *= 2
		if s.fhigh, err = s.value(s.high); err != nil {
			return err
		}
	}
	for s.low == s.high || s.flow <= 0 {
		if s.low <= bitmath.Log(leastNoise) {
			s.fhigh = 0 // even the least noise is enough
			s.high = s.low
			return nil
		}
		s.high, s.fhigh = s.low, s.flow
		s.low = math.Max(s.low-s.step, bitmath.Log(leastNoise))
		s.step *= 2
		if s.flow, err = s.value(s.low); err != nil {
			return err
		}
	}
	return nil
}

// nothing is the logarithm of what, over the target, is no epsilon: at noise that delta
// alone covers. A line from there to the other end points nowhere near the target, and
// steps along it would stay so short that the search ended where it began.
const nothing = -50

// narrow cuts the bracket once. It aims a little inside the target, so that the
// point that it finds is on the right side of it.
func (s *search) narrow() error {
	mid := s.low + float64((s.high-s.low)/2)
	if !math.IsInf(s.flow, 0) && s.fhigh > nothing {
		aim := bitmath.Log1p(-tightness / 2)
		guess := s.low + float64((s.flow-aim)/(s.flow-s.fhigh)*(s.high-s.low))
		if width := s.high - s.low; guess > s.low+float64(0.001*width) && guess < s.high-float64(0.001*width) {
			mid = guess
		}
	}
	f, err := s.value(mid)
	if err != nil {
		return err
	}
	if f > 0 {
		s.low, s.flow = mid, f
	} else {
		s.high, s.fhigh = mid, f
	}
	return nil
}
