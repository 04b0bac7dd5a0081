package account

import (
	"fmt"
	"math"

	"weir/internal/bitmath"
	"weir/privacy"
)

// flatRelease describes count uses of one mechanism, for the accountants that add plain
// parameters. Exactly one of gauss, rhoIs and pure is set.
type flatRelease struct {
	path  string
	count float64
	gauss float64 // noise over sensitivity of a Gaussian
	rhoIs float64 // a zCDP release
	pure  float64 // epsilon of a pure or approximate release
	kind  flatKind
	delta float64 // of an approximate release
	rate  float64 // Poisson rate of a Gaussian or zCDP release, else 1
}

type flatKind int

const (
	flatPure flatKind = iota
	flatExponential
	flatGaussian
	flatZCDP
)

// flat lists releases by their plain parameters.
type flat struct{ compiler }

func newCompiler(accountant string, adjacency privacy.Adjacency) compiler {
	unit := 1.0
	if adjacency == privacy.ReplaceOne {
		unit = 2
	}
	return compiler{accountant, adjacency, unit}
}

func (f *flat) all(events []privacy.Event, adjacency privacy.Adjacency) ([]flatRelease, error) {
	if _, err := privacy.ParseAdjacency(string(adjacency)); err != nil {
		return nil, err
	}
	if err := privacy.ValidateAll(events); err != nil {
		return nil, err
	}
	return f.list("events", events, 1)
}

func (f *flat) list(path string, events []privacy.Event, count float64) ([]flatRelease, error) {
	var out []flatRelease
	for i, e := range events {
		r, err := f.one(fmt.Sprintf("%s[%d]", path, i), e, count)
		if err != nil {
			return nil, err
		}
		out = append(out, r...)
	}
	return out, nil
}

func (f *flat) one(path string, e privacy.Event, count float64) ([]flatRelease, error) {
	path += "." + privacy.Name(e)
	r := flatRelease{path: path, count: count, rate: 1}
	switch e := e.(type) {
	case privacy.Repeated:
		return f.one(path+".event", e.Event, count*float64(e.Count))
	case privacy.Composed:
		return f.list(path+".events", e.Events, count)
	case privacy.Parallel:
		return f.worstPart(path, e, count)
	case privacy.PoissonSampled:
		return f.sampledFlat(path, e, count)
	case privacy.SampledWithoutReplacement:
		return f.fixedSample(path, e, count)
	case privacy.Gaussian:
		r.kind, r.gauss = flatGaussian, e.NoiseMultiplier/f.unit
	case privacy.DiscreteGaussian:
		r.kind, r.rhoIs = flatZCDP, rho(e.NoiseMultiplier/f.unit)
	case privacy.ZCDP:
		r.kind, r.rhoIs = flatZCDP, e.Rho
	case privacy.Laplace:
		r.pure = f.unit / e.NoiseMultiplier
	case privacy.DiscreteLaplace:
		r.pure = f.unit / e.NoiseMultiplier
	case privacy.Exponential:
		r.kind, r.pure = flatExponential, e.Epsilon
	case privacy.RandomizedResponse:
		r.pure = e.Epsilon
	case privacy.Pure:
		r.pure = e.Epsilon
	case privacy.Approximate:
		r.pure, r.delta = e.Epsilon, e.Delta
	}
	return []flatRelease{r}, nil
}

// sampledFlat amplifies: (ln(1+q(e^eps-1)), q delta) under add_remove (Balle,
// Barthe, Gaboardi 2018, theorem 8).
func (f *flat) sampledFlat(path string, e privacy.PoissonSampled, count float64) ([]flatRelease, error) {
	if e.SamplingRate == 1 {
		return f.one(path+".event", e.Event, count)
	}
	inner, err := f.one(path+".event", e.Event, 1)
	if err != nil {
		return nil, err
	}
	if f.adjacency != privacy.AddRemove && e.SamplingRate > 0 {
		return nil, f.unsupported(path, "Poisson sampling is amplified under add_remove only; use rdp or pld")
	}
	return f.amplify(path, inner, e.SamplingRate, count)
}

// fixedSample amplifies in the same form under replace_one (theorem 9 there).
func (f *flat) fixedSample(path string, e privacy.SampledWithoutReplacement, count float64) ([]flatRelease, error) {
	if f.adjacency != privacy.ReplaceOne {
		return nil, f.unsupported(path, "sampling without replacement is bounded under replace_one only: its population is "+
			"public")
	}
	if at := samplingInside(e.Event); at != "" {
		return nil, f.unsupported(path+".event", "%s inside a sample without replacement", at)
	}
	normalised := &flat{f.compiler}
	normalised.unit = 1
	inner, err := normalised.one(path+".event", e.Event, 1)
	if err != nil {
		return nil, err
	}
	return f.amplify(path, inner, float64(e.SampleSize)/float64(e.Population), count)
}

// amplify takes what one sample is used for, which must be one use of one release;
// several share the coin and would have to be joined first.
func (f *flat) amplify(path string, inner []flatRelease, q, count float64) ([]flatRelease, error) {
	if len(inner) != 1 || inner[0].count != 1 {
		return nil, f.unsupported(path, "several releases share one sample; join them into one event")
	}
	r := inner[0]
	r.count = count
	if r.kind == flatExponential { // the range bound is not known to survive sampling
		r.kind = flatPure
	}
	if r.kind == flatPure {
		r.pure, r.delta = samplePure(r.pure, q), q*r.delta
	}
	r.rate *= q
	return []flatRelease{r}, nil
}

// worstPart takes the part that costs most, under replace_one the two that do: the
// unit may leave one part and join another. Parts must be comparable.
func (f *flat) worstPart(path string, e privacy.Parallel, count float64) ([]flatRelease, error) {
	parts := make([][]flatRelease, len(e.Events))
	for i, part := range e.Events {
		r, err := f.one(fmt.Sprintf("%s.events[%d]", path, i), part, count)
		if err != nil {
			return nil, err
		}
		parts[i] = r
	}
	var out []flatRelease
	for range min(f.touched(), len(parts)) {
		worst := 0
		for i := range parts {
			if covers(parts[i], parts[worst]) {
				worst = i
			}
		}
		for i := range parts {
			if !covers(parts[worst], parts[i]) {
				return nil, f.unsupported(path, "its parts cannot be ordered; use rdp or pld")
			}
		}
		out = append(out, parts[worst]...)
		parts = append(parts[:worst], parts[worst+1:]...)
	}
	return out, nil
}

// covers says that a costs at least b, release by release.
func covers(a, b []flatRelease) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := a[i], b[i]
		if x.kind != y.kind || x.count < y.count || x.delta < y.delta || x.rate < y.rate ||
			x.gauss > y.gauss || x.rhoIs < y.rhoIs || x.pure < y.pure {
			return false
		}
	}
	return true
}

// rho returns the zCDP parameter of one use, false where there is none.
func (r flatRelease) rho() (float64, bool) {
	switch {
	case r.rate == 0:
		return 0, true
	case r.kind == flatGaussian:
		return rho(r.gauss), r.rate == 1
	case r.kind == flatZCDP:
		return r.rhoIs, r.rate == 1
	case r.kind == flatExponential:
		return r.pure * r.pure / 8, true
	}
	return r.pure * r.pure / 2, true
}

// needsDelta says whether the release has no finite epsilon at its own delta.
func (r flatRelease) needsDelta() bool {
	return r.kind == flatGaussian || r.kind == flatZCDP && r.rhoIs > 0
}

// budgetAt returns the (epsilon, delta) of one use that may spend share of delta.
func (r flatRelease) budgetAt(share float64) (eps, delta float64) {
	ownValue := 1.0
	if r.rate > 0 {
		ownValue = math.Min(1, share/r.rate)
	}
	switch {
	case r.rate == 0:
		return 0, 0
	case r.kind == flatGaussian:
		return samplePure(GaussianEpsilon(r.gauss, ownValue), r.rate), r.rate * ownValue
	case r.kind == flatZCDP && r.rhoIs > 0:
		return samplePure(Improved.ZCDPEpsilon(r.rhoIs, ownValue), r.rate), r.rate * ownValue
	}
	return r.pure, r.delta
}

// lattice sums a positive function over x = k*h. For an analytic function that
// decays at both ends h times the sum is its integral up to exp(-2 pi d/h), d
// being the distance of the nearest singularity from the real line (the
// trapezoidal rule; Trefethen, Weideman 2014). For a distribution on the
// integers (h = 1) the sum is exact.
type lattice struct {
	h, width   float64
	logF       func(x float64) float64
	first      bool
	low, high  int // indices summed so far, inclusive
	peak, mass float64
}

// cutoff is how many nats below the largest term the sum stops: e^-42 is below
// half a unit in the last place of a double even for thousands of terms.
const cutoff = 42

// logSum returns ln of the sum of exp(logF). starts are points near the modes, the
// one that may be the highest by far first; width is the scale over which the
// function varies around a mode.
func logSum(h, width float64, logF func(float64) float64, starts ...float64) float64 {
	l := &lattice{h: h, width: width, logF: logF, first: true, peak: math.Inf(-1)}
	top := math.Inf(-1)
	for _, s := range starts {
		top = math.Max(top, l.near(int(math.Round(s/h))))
	}
	for _, s := range starts {
		k := int(math.Round(s / h))
		if !l.first && k >= l.low && k <= l.high {
			continue
		}
		if l.near(k) >= top-3*cutoff { // from a mode far below another, the walk up to that could be endless
			l.walkFrom(k)
		}
	}
	if l.mass == 0 {
		return math.Inf(-1)
	}
	return l.peak + bitmath.Log(l.mass)
}

// near returns the largest logF at index k and its neighbours; k itself may be a zero.
func (l *lattice) near(k int) float64 {
	best := math.Inf(-1)
	for i := k - 1; i <= k+1; i++ {
		if v := l.logF(float64(i) * l.h); v > best {
			best = v
		}
	}
	return best
}

// walkFrom walks from index k both ways, never over what has been summed.
func (l *lattice) walkFrom(k int) {
	lowWall, highWall := math.MinInt, math.MaxInt
	if !l.first && k > l.high {
		lowWall = l.high
	}
	if !l.first && k < l.low {
		highWall = l.low
	}
	high := l.walk(k, +1, highWall)
	low := l.walk(k-1, -1, lowWall)
	if l.first {
		l.low, l.high, l.first = low, high, false
		return
	}
	l.low, l.high = min(l.low, low), max(l.high, high)
}

// walk adds terms until two in a row are negligible, at least six widths away from
// the start, or until it meets the wall; one alone may be a zero of the function
// within the mass (the excess vanishes where the loss is 0). The first walks go on
// while terms rise, for their start may lie beside the mode; later ones must not,
// for they would climb all the way to a distant mode that has been summed: what is
// negligible between two modes is part of neither. walk returns the last index.
func (l *lattice) walk(k, dir, wall int) int {
	least := int(math.Ceil(6 * l.width / l.h))
	previous := math.Inf(1)
	for n := 0; k != wall; n++ {
		v := l.logF(float64(k) * l.h)
		l.add(v)
		negligible := math.Max(v, previous) < l.peak-cutoff
		if n > least && negligible && (v <= previous || !l.first) {
			return k
		}
		previous = v
		k += dir
	}
	return k - dir
}

func (l *lattice) add(v float64) {
	switch {
	case math.IsInf(v, -1):
	case v > l.peak:
		l.mass = float64(l.mass*bitmath.Exp(l.peak-v)) + 1
		l.peak = v
	default:
		l.mass += bitmath.Exp(v - l.peak)
	}
}
