package train

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"weir/privacy"
)

// state is everything that a loop changes: counters, float32 vectors and orders of rows,
// which resume fills in place.
type state struct {
	counters []*int
	vectors  [][]float32
	orders   [][]int32
}

// magic heads a checkpoint; its digit is the version of the form.
const magic = "weir checkpoint 1\n"

func (s *state) add(d *descent) {
	s.counters = append(s.counters, &d.t)
	s.vectors = append(s.vectors, d.w, d.m, d.v)
}

// encode writes the magic, the counters, each vector's and then each order's length and
// bits (little endian), and a SHA-256 of it all.
func (s *state) encode() []byte {
	out := []byte(magic)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(s.counters)))
	for _, c := range s.counters {
		out = binary.LittleEndian.AppendUint64(out, uint64(*c))
	}
	for _, v := range s.vectors {
		out = binary.LittleEndian.AppendUint64(out, uint64(len(v)))
		for _, x := range v {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
		}
	}
	for _, o := range s.orders {
		out = binary.LittleEndian.AppendUint64(out, uint64(len(o)))
		for _, row := range o {
			out = binary.LittleEndian.AppendUint32(out, uint32(row))
		}
	}
	sum := sha256.Sum256(out)
	return append(out, sum[:]...)
}

// resume restores a checkpoint and tells the paid mechanism of the steps that it holds,
// which steps counts. One that cannot be read, or holds steps that nobody knows to be
// drawn, counts as absent: the loop starts at its beginning and draws the same noise on
// the same values, which releases nothing new.
func (s *state) resume(h Hooks, paid *privacy.Handle, steps *int) error {
	if h.Resume == nil {
		return nil
	}
	body, whole := s.body(h.Resume)
	if !whole || !paid.CanResume(s.stepsOf(body, steps)) {
		if h.Unusable != nil {
			h.Unusable()
		}
		return nil
	}
	s.fill(body)
	return paid.Resume(int64(*steps))
}

// body returns what encode wrote between magic and checksum; false where it is not whole, or of
// another shape than s.
func (s *state) body(in []byte) (body []byte, whole bool) {
	size := len(magic) + 8 + 8*len(s.counters) + sha256.Size
	for _, n := range s.lengths() {
		size += 8 + 4*n
	}
	if len(in) != size || !bytes.HasPrefix(in, []byte(magic)) {
		return nil, false
	}
	rest, sum := in[:size-sha256.Size], in[size-sha256.Size:]
	want := sha256.Sum256(rest)
	body = rest[len(magic):]
	return body, bytes.Equal(sum, want[:]) && s.shaped(body)
}

// shaped reports whether the counts in a body are the counts of s.
func (s *state) shaped(body []byte) bool {
	pos := 8 + 8*len(s.counters)
	fits := binary.LittleEndian.Uint64(body) == uint64(len(s.counters))
	for _, n := range s.lengths() {
		fits = fits && binary.LittleEndian.Uint64(body[pos:]) == uint64(n)
		pos += 8 + 4*n
	}
	return fits
}

// lengths returns the lengths of vectors and orders.
func (s *state) lengths() (n []int) {
	for _, v := range s.vectors {
		n = append(n, len(v))
	}
	for _, o := range s.orders {
		n = append(n, len(o))
	}
	return n
}

// stepsOf returns what a body says of one of the counters.
func (s *state) stepsOf(body []byte, steps *int) int64 {
	at := 8 + 8*slices.Index(s.counters, steps)
	return int64(binary.LittleEndian.Uint64(body[at:]))
}

// fill copies the values of a body, which has the shape of s, into s.
func (s *state) fill(body []byte) {
	body = body[8:]
	for _, c := range s.counters {
		*c, body = int(binary.LittleEndian.Uint64(body)), body[8:]
	}
	for _, v := range s.vectors {
		body = body[8:]
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(body[4*i:]))
		}
		body = body[4*len(v):]
	}
	for _, o := range s.orders {
		body = body[8:]
		for i := range o {
			o[i] = int32(binary.LittleEndian.Uint32(body[4*i:]))
		}
		body = body[4*len(o):]
	}
}

// Progress is where a loop stands. Steps is the same throughout, over all phases. Loss
// is the mean loss of the latest reported step. It is computed from private rows: it is
// private, and goes to nobody but the callback.
type Progress struct {
	Phase       string // such as fit, warm_start, critic, generator
	Step, Steps int
	Loss        float64
}

// Hooks are a loop's ties to its caller; the zero value has none.
//
// Progress is called after every ProgressEvery steps and after the last, Resumed once where
// the loop goes on from a step that Resume holds, before its first step. Checkpoint is called
// after every CheckpointEvery steps with a state that, given back as Resume with
// the same configuration, data, seed and source, continues bit for bit. A checkpoint
// is private: it holds optimiser state, and critics that saw rows without noise.
type Hooks struct {
	Progress        func(Progress)
	ProgressEvery   int
	Resumed         func(Progress) // Loss is 0
	Checkpoint      func(state []byte) error
	CheckpointEvery int
	Resume          []byte
	Unusable        func() // Resume cannot be used: the loop starts at its beginning
}

// reports says whether step t (counted from 1) of n is reported.
func (h Hooks) reports(t, n int) bool {
	return h.Progress != nil && (t == n || h.ProgressEvery > 0 && t%h.ProgressEvery == 0)
}

// resumed says where the loop stands before its first step, if that is not its beginning.
func (h Hooks) resumed(at Progress) {
	if h.Resumed != nil && at.Step > 0 {
		h.Resumed(at)
	}
}

func (h Hooks) save(t int, s *state) error {
	if h.Checkpoint == nil || h.CheckpointEvery <= 0 || t%h.CheckpointEvery != 0 {
		return nil
	}
	return h.Checkpoint(s.encode())
}
