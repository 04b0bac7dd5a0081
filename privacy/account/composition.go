package account

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"weir/internal/bitmath"
	"weir/privacy"
	"weir/privacy/pld"
)

// Basic adds epsilons and deltas (Dwork, Roth 2014, theorem 3.16). Releases that
// are private only at a delta share what the others leave of it evenly.
type Basic struct{}

// Name returns "basic".
func (Basic) Name() string { return "basic" }

// Epsilon returns the sum of the epsilons.
func (b Basic) Epsilon(events []privacy.Event, adjacency privacy.Adjacency, delta float64) (float64, error) {
	return composeFlat(b.Name(), events, adjacency, delta, func(r []flatRelease, left float64) float64 {
		return basicSum(r, left)
	})
}

// Delta returns the smallest delta at which the sum is at most epsilon.
func (b Basic) Delta(events []privacy.Event, adjacency privacy.Adjacency, epsilon float64) (float64, error) {
	return invert(b, events, adjacency, epsilon)
}

// Advanced is strong composition for different releases: the smaller of the three
// forms of Kairouz, Oh, Viswanath 2015, theorem 3.5, of which one is the sum, and
// the theorem of Dwork, Rothblum, Vadhan 2010, over several ways to split delta
// between the releases and the slack of the theorem.
type Advanced struct{}

// Name returns "advanced".
func (Advanced) Name() string { return "advanced" }

// Epsilon returns the best of the bounds.
func (a Advanced) Epsilon(events []privacy.Event, adjacency privacy.Adjacency, delta float64) (float64, error) {
	return composeFlat(a.Name(), events, adjacency, delta, func(r []flatRelease, left float64) float64 {
		best := basicSum(r, left)
		for i := 1; i < 40; i++ { // shares of the slack from 1/2 to 1e-6, on both sides
			share := float64(0.5 * bitmath.Pow(10, -6*float64(i%20)/20))
			if i >= 20 {
				share = 1 - share
			}
			best = math.Min(best, strong(r, share*left, (1-share)*left))
		}
		if !anyNeedsDelta(r) {
			best = math.Min(best, strong(r, left, 0))
		}
		return best
	})
}

// Delta returns the smallest delta at which Epsilon is at most epsilon.
func (a Advanced) Delta(events []privacy.Event, adjacency privacy.Adjacency, epsilon float64) (float64, error) {
	return invert(a, events, adjacency, epsilon)
}

// composeFlat takes the deltas of the approximate releases off delta.
func composeFlat(name string, events []privacy.Event, adjacency privacy.Adjacency, delta float64,
	bound func([]flatRelease, float64) float64) (float64, error) {
	f := &flat{newCompiler(name, adjacency)}
	releases, err := f.all(events, adjacency)
	if err = errors.Join(err, checkDelta(delta)); err != nil {
		return 0, err
	}
	left := delta
	for _, r := range releases {
		if !r.needsDelta() {
			left -= float64(r.count * r.delta)
		}
	}
	switch {
	case delta == 1:
		return 0, nil
	case left < 0:
		return math.Inf(1), nil
	}
	return privacy.ProvenEpsilon(bound(releases, left)), nil
}

func anyNeedsDelta(releases []flatRelease) bool {
	for _, r := range releases {
		if r.needsDelta() {
			return true
		}
	}
	return false
}

// share returns what one use may spend of left where all of them spend the same.
func share(releases []flatRelease, left float64) float64 {
	uses := 0.0
	for _, r := range releases {
		if r.needsDelta() {
			uses += r.count
		}
	}
	return left / math.Max(1, uses)
}

func basicSum(releases []flatRelease, left float64) float64 {
	sum, each := 0.0, share(releases, left)
	for _, r := range releases {
		if eps, _ := r.budgetAt(each); eps > 0 {
			sum += float64(r.count * eps)
		}
	}
	return sum
}

// strong evaluates the two theorems with the given slack.
func strong(releases []flatRelease, slack, left float64) float64 {
	if slack <= 0 {
		return math.Inf(1)
	}
	each := share(releases, left)
	var squares, drift, driftOld float64
	for _, r := range releases {
		eps, _ := r.budgetAt(each)
		if math.IsInf(eps, 1) {
			return eps
		}
		squares += float64(r.count * eps * eps)
		drift += float64(r.count * eps * bitmath.Tanh(eps/2))
		if eps > 0 {
			driftOld += float64(r.count * eps * bitmath.Expm1(eps))
		}
	}
	log := bitmath.Log(math.E + math.Sqrt(squares)/slack)
	tail := math.Sqrt(2 * squares * math.Min(log, bitmath.Log(1/slack)))
	return math.Min(drift+tail, driftOld+math.Sqrt(2*squares*bitmath.Log(1/slack)))
}

// invert finds the smallest delta, to one part in 1e9, by bisection on its
// logarithm down to 1e-300.
func invert(a privacy.Accountant, events []privacy.Event, adjacency privacy.Adjacency, epsilon float64) (float64,
	error) {
	if err := checkEpsilon(epsilon); err != nil {
		return 0, err
	}
	meets := func(delta float64) (bool, error) {
		eps, err := a.Epsilon(events, adjacency, delta)
		return eps <= epsilon, err
	}
	if ok, err := meets(0); ok || err != nil {
		return 0, err
	}
	low, high := -700.0, 0.0
	for range 60 {
		mid := (low + high) / 2
		ok, err := meets(bitmath.Exp(mid))
		if err != nil {
			return 0, err
		}
		if ok {
			high = mid
		} else {
			low = mid
		}
	}
	return bitmath.Exp(high), nil
}

// Amplify returns ln(1+q(e^eps-1)), the epsilon of an (eps, delta)-DP release on a
// sample of rate q; its delta is q delta (Balle, Barthe, Gaboardi 2018).
func Amplify(epsilon, q float64) float64 { return samplePure(epsilon, q) }

// Default is the accountant of a spec or command that names none.
const Default = pld.Name

// accountants lists them all, the tightest first; each states its own name.
func accountants() []privacy.Accountant {
	return []privacy.Accountant{pld.New(), RDP{}, ZCDP{}, Moments{}, Advanced{}, Basic{}}
}

// Names returns the accountants that ByName knows, the tightest first.
func Names() []string {
	var names []string
	for _, a := range accountants() {
		names = append(names, a.Name())
	}
	return names
}

// ByName returns the accountant called name.
func ByName(name string) (privacy.Accountant, error) {
	for _, a := range accountants() {
		if a.Name() == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("accountant: is %q, must be one of %s", name, strings.Join(Names(), ", "))
}
