package neighbour

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"sync"

	"weir/internal/bitmath"
	"weir/privacy"
)

// Residuals finds noise that stands on two values, in one run or in several: what comes out of two uses less
// what went in is never the same twice. The zero value has seen none.
type Residuals struct {
	mu     sync.Mutex
	seen   map[[32]byte]residual // by a digest of noise
	faults []Fault
}

// residual is a use, and what went into it.
type residual struct {
	place Place
	in    [32]byte // a digest
}

// enoughBits of noise are never the same by chance: of a million uses, all pairs together have two alike
// once in 2^20.
const enoughBits = 60

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
		p.of.note(Place{p.stage, r.Spend, r.Use}, in, out)
	}
	return p.Probe.Release(r)
}

// noiseBits is how many bits of noise a use has at least: of whole numbers those that a Gaussian rounded to
// integers collides with, log2(2 sigma sqrt(pi)) each, and of others twenty. At epsilon inf nothing is added
// and nothing clipped, so that a training may diverge: what its uses share is then NaN less NaN, and no noise.
func noiseBits(m privacy.Additive, in, out []float64) (sum float64) {
	for i := range in {
		switch d := out[i] - in[i]; {
		case !(m.Deviation() > 0):
		case d == math.Trunc(d):
			sum += math.Max(0, bitmath.Log2(2*math.Sqrt(math.Pi)*m.Deviation()))
		default:
			sum += 20
		}
	}
	return sum
}

func (r *Residuals) note(place Place, in, out []float64) {
	sample := make([]float64, len(in))
	for i := range in {
		sample[i] = out[i] - in[i]
	}
	key := digest(sample)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[[32]byte]residual{}
	}
	current := residual{place, digest(in)}
	if before, ok := r.seen[key]; ok && !zero(sample) && before != current { // a run that is continued draws its own again
		r.faults = append(r.faults, place.fault("has the noise of %s", before.place)...)
	}
	r.seen[key] = current
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
