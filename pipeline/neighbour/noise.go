package neighbour

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"sync"

	"weir/internal/bitmath"
	"weir/privacy"
)

// Residuals finds noise that stands on two values, in one run or in several, as it is, negated, doubled or, of long
// vectors, in any proportion. It also finds values without noise. The zero value has seen none.
type Residuals struct {
	mu     sync.Mutex
	seen   map[[32]byte]residual // by a digest of noise
	drawn  []sample
	faults []Fault
}

// residual is a use, and what went into it.
type residual struct {
	place Place
	in    [32]byte // a digest
}

// sample is how the noise of a long use begins, scaled to length 1.
type sample struct {
	residual
	numbers []float64
}

// enoughBits of noise are never the same by chance: of a million uses, all pairs together have two alike
// once in 2^20.
const enoughBits = 60

// Of long vectors of noise so many numbers are compared, which may have been rounded with what went in: two independent
// ones have a correlation above likeness once in 10^30 pairs, were they Gaussian (sqrt(256) .75 = 12 deviations).
const (
	sampled  = 256
	likeness = .75
	// mostSampled uses are compared, each with all before it
	mostSampled = 4096
)

type residualProbe struct {
	privacy.Probe
	of    *Residuals
	stage string
}

// Of returns a probe of a stage that looks at noise and hands everything on to another one.
func (r *Residuals) Of(stage string, p privacy.Probe) privacy.Probe {
	probe := residualProbe{p, r, stage}
	if w, ok := p.(privacy.Watcher); ok {
		return struct {
			residualProbe
			streams
		}{probe, w}
	}
	return probe
}

// streams is the half of a privacy.Watcher that only looks on.
type streams interface {
	Stream(spend string, use int64, purpose string, index uint64)
}

// Faults lists what was found.
func (r *Residuals) Faults() []Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Fault(nil), r.faults...)
}

// Release notes the noise of a use, before anything is put in place of what came out.
func (p residualProbe) Release(r privacy.Released) any {
	in, err1 := numbers(r.In)
	out, err2 := numbers(r.Out)
	if m, additive := r.Mechanism.(privacy.Additive); err1 == nil && err2 == nil && additive && len(in) == len(out) &&
		noiseBits(m, in, out) >= enoughBits {
		p.of.note(Place{p.stage, r.Spend, r.Use}, in, out, m)
	}
	return p.Probe.Release(r)
}

// noiseBits returns how many bits of noise a use has at least: of whole numbers those that a Gaussian rounded to
// integers collides with, log2(2 sigma sqrt(pi)) each, and of others twenty. At epsilon inf nothing is added
// and nothing clipped, so that a training may diverge: what its uses share is then NaN less NaN, and no noise.
func noiseBits(m privacy.Additive, in, out []float64) (sum float64) {
	whole := func(x float64) bool { return x == math.Trunc(x) }
	for i := range in {
		switch d := out[i] - in[i]; {
		case !(m.Deviation() > 0):
		case whole(d) && whole(out[i]):
			sum += math.Max(0, bitmath.Log2(2*math.Sqrt(math.Pi)*m.Deviation()))
		default:
			sum += 20
		}
	}
	return sum
}

func (r *Residuals) note(place Place, in, out []float64, m privacy.Additive) {
	noise := make([]float64, len(in))
	for i := range in {
		noise[i] = out[i] - in[i]
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if zero(noise) {
		r.faults = append(r.faults, place.fault("what comes out is what went in: no noise was drawn")...)
		return
	}
	current := residual{place, digest(in)}
	if r.seen == nil {
		r.seen = map[[32]byte]residual{}
	}
	found := false
	for _, times := range []float64{1, -1, 2, -2, .5, -.5} {
		before, ok := r.seen[digest(multiplied(noise, times))]
		if ok && before != current && !found { // a run that is continued draws its own again
			r.faults, found = append(r.faults, place.fault("has the noise of %s", before.place)...), true
		}
	}
	r.seen[digest(noise)] = current
	if !found && len(noise) >= sampled && len(r.drawn) < mostSampled {
		r.correlate(current, noise[:sampled])
	}
}

// correlate holds the beginning of a long vector of noise against all before it.
func (r *Residuals) correlate(current residual, noise []float64) {
	length := math.Sqrt(product(noise, noise))
	if !(length > 0) || math.IsInf(length, 0) {
		return
	}
	s := sample{current, multiplied(noise, 1/length)}
	for _, before := range r.drawn {
		if before.residual != current && math.Abs(product(before.numbers, s.numbers)) > likeness {
			r.faults = append(r.faults, current.place.fault("has the noise of %s", before.place)...)
			break
		}
	}
	r.drawn = append(r.drawn, s)
}

func multiplied(list []float64, factor float64) []float64 {
	out := make([]float64, len(list))
	for i, x := range list {
		out[i] = x * factor
	}
	return out
}

func product(a, b []float64) (sum float64) {
	for i := range a {
		sum += float64(a[i] * b[i])
	}
	return sum
}

func digest(list []float64) [32]byte {
	data := make([]byte, 0, 8*len(list))
	for _, x := range list {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(x))
	}
	return sha256.Sum256(data)
}

func zero(list []float64) bool {
	for _, x := range list {
		if x != 0 {
			return false
		}
	}
	return true
}
