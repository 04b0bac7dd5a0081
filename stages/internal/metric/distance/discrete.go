// Package distance measures how far apart two distributions are: P, the real
// one, and Q, the synthetic one. Logarithms are natural. Definitions and the
// names of those that have several are those of testdata/golden/METRICS.md section 7.
package distance

import (
	"math"

	"weir/internal/bitmath"
)

// Discrete holds the distances between two distributions over the same values.
// A divergence is +Inf where a support does not hold the other; all are NaN
// where P or Q is empty.
type Discrete struct {
	TotalVariation float64 // 0.5 sum |P-Q|
	L1             float64 // sum |P-Q|
	L2             float64 // sqrt(sum (P-Q)^2)
	// JSD is the Jensen-Shannon divergence 0.5 KL(P|M) + 0.5 KL(Q|M) with
	// M = (P+Q)/2, in nats; the code of DP-auto-GAN computes this one.
	JSD float64
	// JSDAsPrinted is 0.5 KL(P|Q) + 0.5 KL(Q|P): half the Jeffreys divergence,
	// which the DP-auto-GAN paper prints under the name of JSD.
	JSDAsPrinted float64
	KLRealSynth  float64 // sum P ln(P/Q)
	KLSynthReal  float64 // sum Q ln(Q/P)
	// Mu is exp(-1/(1-p1)) with p1 = max P, and MuSmoothedKL the sum over the
	// support of P of (P+mu) ln((P+mu)/(Q+mu)) (Tantipongpipat et al. 2021).
	Mu, MuSmoothedKL float64
	Hellinger        float64 // sqrt(0.5 sum (sqrt P - sqrt Q)^2)
}

// NewDiscrete compares shares p and q of the same values; each sums to 1.
func NewDiscrete(p, q []float64) Discrete {
	if sum(p) == 0 || sum(q) == 0 {
		n := math.NaN()
		return Discrete{n, n, n, n, n, n, n, n, n, n}
	}
	d := Discrete{Mu: smoothing(p)}
	squares, roots := 0.0, 0.0
	for i, a := range p {
		b := q[i]
		d.L1 += math.Abs(a - b)
		squares += float64((a - b) * (a - b))
		root := math.Sqrt(a) - math.Sqrt(b)
		roots += float64(root * root)
		d.JSD += float64((relative(a, (a+b)/2) + relative(b, (a+b)/2)) / 2)
		d.KLRealSynth += relative(a, b)
		d.KLSynthReal += relative(b, a)
		if a > 0 {
			d.MuSmoothedKL += relative(a+d.Mu, b+d.Mu)
		}
	}
	d.TotalVariation, d.L2, d.Hellinger = d.L1/2, math.Sqrt(squares), math.Sqrt(roots/2)
	d.JSD, d.JSDAsPrinted = max(d.JSD, 0), (d.KLRealSynth+d.KLSynthReal)/2
	return d
}

// JensenShannonDistance is sqrt(JSD), what scipy's jensenshannon returns.
func (d Discrete) JensenShannonDistance() float64 { return math.Sqrt(d.JSD) }

func smoothing(p []float64) float64 {
	most := 0.0
	for _, v := range p {
		most = max(most, v)
	}
	if most >= 1 {
		return 0
	}
	return bitmath.Exp(-1 / (1 - most))
}

// relative is a ln(a/b), 0 where a is 0 and +Inf where only b is.
func relative(a, b float64) float64 {
	switch {
	case a == 0:
		return 0
	case b == 0:
		return math.Inf(1)
	}
	return a * bitmath.Log(a/b)
}

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}
