package mechanism

import (
	"fmt"
	"math"

	"weir/privacy"
	"weir/privacy/noise"
)

// RandomizedResponse replaces a category by a uniform one of Buckets with
// probability NoiseParameter (Warner 1965; Kairouz, Oh, Viswanath 2014 for more
// than two).
//
// Input: one unit's bucket, in [0, Buckets). Release: a bucket. Adjacency:
// replace_one (the bucket changes; that there is an answer is public).
// Guarantee: Epsilon-DP with epsilon = ln(1 + k (1-p)/p). Coins are exact; p is
// taken as the next fraction above it (noise.RationalAbove).
type RandomizedResponse struct {
	Buckets        int
	NoiseParameter float64
}

// ResponseFor returns the randomized response of the given epsilon.
func ResponseFor(epsilon float64, buckets int) RandomizedResponse {
	k := float64(buckets)
	return RandomizedResponse{buckets, k / (math.Expm1(epsilon) + k)}
}

func (m RandomizedResponse) check() (noise.Rational, error) {
	if m.Buckets < 2 || !(m.NoiseParameter >= 0x1p-20 && m.NoiseParameter <= 1) {
		return noise.Rational{}, fmt.Errorf("randomized response: buckets: is %d, must be at least 2; noise parameter: is %g, must be in [2^-20, 1]", m.Buckets, m.NoiseParameter)
	}
	return noise.RationalAbove(m.NoiseParameter)
}

// Epsilon returns the guarantee in nats.
func (m RandomizedResponse) Epsilon() float64 {
	return math.Log1p(float64(m.Buckets) * (1 - m.NoiseParameter) / m.NoiseParameter)
}

// Event describes one Respond. For more than two buckets it is a bound: every
// Epsilon-DP mechanism is dominated by the binary response of that epsilon.
func (m RandomizedResponse) Event() privacy.Event {
	return privacy.RandomizedResponse{Epsilon: m.Epsilon() * (1 + 0x1p-48)}
}

// Respond replaces buckets in place; each is a charge of its unit, and since
// units are disjoint the whole is one event.
func (m RandomizedResponse) Respond(src *noise.Source, buckets []int) error {
	p, err := m.check()
	if err != nil {
		return err
	}
	for i, b := range buckets {
		if b < 0 || b >= m.Buckets {
			return fmt.Errorf("randomized response: row %d: the bucket must be in [0, %d)", i, m.Buckets)
		}
	}
	st := src.Stream("randomized response", 0)
	for i := range buckets {
		if st.Bernoulli(p) {
			buckets[i] = int(st.Uint64n(uint64(m.Buckets)))
		}
	}
	return nil
}

// Truth returns the probability that a bucket comes out as it went in.
func (m RandomizedResponse) Truth() float64 {
	return 1 - m.NoiseParameter + m.NoiseParameter/float64(m.Buckets)
}
