package training

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"

	"weir/pipeline"
	"weir/privacy"
	"weir/train"
)

// Phases is a training of several loops, one after the other, each with a mechanism
// of its own. One checkpoint serves them: it says which loop is at work, what those
// before it left, and where it stands.
type Phases struct {
	Rows  *train.Rows
	Paid  []*privacy.Handle // a phase
	hooks train.Hooks
	saved saved
}

// saved is a checkpoint: the state of a loop, and weights that the phases before left.
type saved struct {
	phase  int
	before []float32
	state  []byte
}

// BeginPhases pays for every phase of a training on rows that are read already: a table that
// cannot be read costs nothing. every is how many steps lie between checkpoints.
func BeginPhases(env *pipeline.Env, rows *train.Rows, every int, spends ...string) (*Phases, error) {
	p := &Phases{Rows: rows}
	for _, name := range spends {
		paid, err := env.Privacy.Open(name)
		if err != nil {
			return nil, err
		}
		p.Paid = append(p.Paid, paid)
	}
	var err error
	p.hooks, err = hooks(env, every)
	if err != nil || p.hooks.Resume == nil {
		return p, err
	}
	body, whole := unseal(p.hooks.Resume)
	if p.saved = body; !whole || body.phase >= len(p.Paid) {
		p.anew()
	}
	return p, nil
}

// anew forgets a checkpoint: the training starts at its beginning.
func (p *Phases) anew() {
	p.hooks.Unusable()
	p.hooks.Resume = nil
}

// Before returns what the phases before k left, n weights, where an interrupted attempt came
// so far and all their uses are known to be drawn.
func (p *Phases) Before(k, n int) (left []float32, passed bool) {
	if p.hooks.Resume == nil || p.saved.phase < k {
		return nil, false
	}
	known := len(p.saved.before) == n
	for _, paid := range p.Paid[:k] {
		known = known && paid.CanResume(paid.Mechanism().Uses())
	}
	if !known {
		p.anew()
		return nil, false
	}
	for _, paid := range p.Paid[:k] {
		if paid.Resume(paid.Mechanism().Uses()) != nil {
			return nil, false // not after CanResume
		}
	}
	return p.saved.before, true
}

// Hooks tie the loop of phase k to its stage; before is what the phases before it left.
func (p *Phases) Hooks(k int, before []float32) train.Hooks {
	h := p.hooks
	if h.Resume != nil && p.saved.phase == k {
		h.Resume = p.saved.state
	} else {
		h.Resume = nil
	}
	done, all := 0, 0
	for i, paid := range p.Paid {
		if i < k {
			done += int(paid.Mechanism().Uses())
		}
		all += int(paid.Mechanism().Uses())
	}
	among := func(tell func(train.Progress)) func(train.Progress) {
		return func(s train.Progress) {
			s.Step, s.Steps = s.Step+done, all
			tell(s)
		}
	}
	h.Progress, h.Resumed = among(p.hooks.Progress), among(p.hooks.Resumed)
	h.Checkpoint = func(state []byte) error { return p.hooks.Checkpoint(seal(saved{k, before, state})) }
	return h
}

const phasesMagic = "weir phases 1\n"

// seal writes the magic, the phase, the weights and the state, each with its length,
// and a SHA-256 of it all.
func seal(s saved) []byte {
	out := binary.LittleEndian.AppendUint64([]byte(phasesMagic), uint64(s.phase))
	out = binary.LittleEndian.AppendUint64(out, uint64(len(s.before)))
	for _, v := range s.before {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	out = append(out, s.state...)
	sum := sha256.Sum256(out)
	return append(out, sum[:]...)
}

func unseal(data []byte) (s saved, whole bool) {
	const head = len(phasesMagic) + 16
	end := len(data) - sha256.Size
	if end < head || !bytes.HasPrefix(data, []byte(phasesMagic)) {
		return s, false
	}
	if sum := sha256.Sum256(data[:end]); !bytes.Equal(sum[:], data[end:]) {
		return s, false
	}
	body := data[len(phasesMagic):end]
	phase, n, rest := binary.LittleEndian.Uint64(body), binary.LittleEndian.Uint64(body[8:]), body[16:]
	if phase > 1<<10 || n > uint64(len(rest)/4) {
		return s, false
	}
	s.phase, s.before = int(phase), make([]float32, n)
	for i := range s.before {
		s.before[i] = math.Float32frombits(binary.LittleEndian.Uint32(rest[4*i:]))
	}
	s.state = rest[4*n:]
	return s, true
}
