package mechanism

import (
	"fmt"

	"weir/internal/portable"
	"weir/privacy"
	"weir/privacy/noise"
)

// RandomizedResponse replaces a category by a uniform one of Buckets with
// probability NoiseParameter (Warner 1965; Kairouz, Oh, Viswanath 2014 for more
// than two).
//
// Input: buckets in [0, Buckets), one of each unit. Release: as many buckets.
// Adjacency: replace_one (the bucket changes); that there is an answer is public, so
// under add_remove what changes is a bucket as well. Sensitivity: one bucket changes,
// by at most Buckets - 1.
// Guarantee: Epsilon-DP with epsilon = ln(1 + k (1-p)/p). Coins are exact; p is
// taken as the next fraction above it (noise.RationalAbove).
type RandomizedResponse struct {
	Buckets        int
	NoiseParameter float64
	Releases       int64
}

// ResponseFor returns the randomized response of the given epsilon, used once.
func ResponseFor(epsilon float64, buckets int) RandomizedResponse {
	k := float64(buckets)
	return RandomizedResponse{buckets, k / (portable.Expm1(epsilon) + k), 1}
}

func (m RandomizedResponse) check() (noise.Rational, error) {
	if m.Buckets < 2 || !(m.NoiseParameter >= 0x1p-20 && m.NoiseParameter <= 1) {
		return noise.Rational{}, fmt.Errorf("randomized response: buckets: is %d, must be at least 2; noise parameter: is %g, must be in [2^-20, 1]", m.Buckets, m.NoiseParameter)
	}
	return noise.RationalAbove(m.NoiseParameter)
}

func (m RandomizedResponse) Check() error {
	if _, err := m.check(); err != nil {
		return err
	}
	return checkUses("releases", m.Releases)
}

// Epsilon returns the guarantee of one release in nats.
func (m RandomizedResponse) Epsilon() float64 {
	return portable.Log1p(float64(m.Buckets) * (1 - m.NoiseParameter) / m.NoiseParameter)
}

// Event: for more than two buckets it is a bound, since every Epsilon-DP mechanism is
// dominated by the binary response of that epsilon.
func (m RandomizedResponse) Event(privacy.Adjacency) privacy.Event {
	return repeated(m.Releases, privacy.RandomizedResponse{Epsilon: m.Epsilon() * (1 + 0x1p-48)})
}

func (m RandomizedResponse) Sensitivity(privacy.Adjacency) privacy.Sensitivity {
	return privacy.Sensitivity{Norm: privacy.L1, Bound: float64(m.Buckets - 1)}
}

func (m RandomizedResponse) Uses() int64 { return m.Releases }

// Respond returns a bucket for each by the planned RandomizedResponse: one use. Units
// are disjoint, so the whole is one event.
func Respond(h *privacy.Handle, buckets []int64) ([]int64, error) {
	m, err := planned[RandomizedResponse](h)
	if err != nil {
		return nil, err
	}
	for i, b := range buckets {
		if b < 0 || b >= int64(m.Buckets) {
			return nil, fmt.Errorf("randomized response: row %d: the bucket must be in [0, %d)", i, m.Buckets)
		}
	}
	u, err := h.Next()
	if err != nil {
		return nil, err
	}
	out, err := m.draw(u.Stream("response", 0), buckets)
	if err != nil {
		return nil, err
	}
	return privacy.Release(u, kept(u, buckets), out), nil
}

func (m RandomizedResponse) draw(st *noise.Stream, buckets []int64) ([]int64, error) {
	p, err := m.check()
	out := make([]int64, len(buckets))
	for i, b := range buckets {
		if out[i] = b; st.Bernoulli(p) {
			out[i] = int64(st.Uint64n(uint64(m.Buckets)))
		}
	}
	return out, err
}

// Truth returns the probability that a bucket comes out as it went in.
func (m RandomizedResponse) Truth() float64 {
	return 1 - m.NoiseParameter + m.NoiseParameter/float64(m.Buckets)
}
