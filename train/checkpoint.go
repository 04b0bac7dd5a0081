package train

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"

	"weir/privacy"
)

// state is everything that a loop changes: counters and float32 vectors, which
// decode fills in place.
type state struct {
	counters []*int
	vectors  [][]float32
}

// magic heads a checkpoint; its digit is the version of the form.
const magic = "weir checkpoint 1\n"

func (s *state) add(d *descent) {
	s.counters = append(s.counters, &d.t)
	s.vectors = append(s.vectors, d.w, d.m, d.v)
}

// encode writes the magic, the counters, each vector's length and bits (little
// endian), and a SHA-256 of it all.
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
	sum := sha256.Sum256(out)
	return append(out, sum[:]...)
}

var errCheckpoint = errors.New("checkpoint: is damaged or belongs to another configuration; start without it")

// decode restores what encode wrote; nil does nothing.
func (s *state) decode(in []byte) error {
	if in == nil {
		return nil
	}
	size := len(magic) + 8 + 8*len(s.counters) + sha256.Size
	for _, v := range s.vectors {
		size += 8 + 4*len(v)
	}
	if len(in) != size || !bytes.HasPrefix(in, []byte(magic)) {
		return errCheckpoint
	}
	body, sum := in[:size-sha256.Size], in[size-sha256.Size:]
	if want := sha256.Sum256(body); !bytes.Equal(sum, want[:]) {
		return errCheckpoint
	}
	return s.fill(body[len(magic):])
}

// resume restores a checkpoint, if there is one, and tells the paid mechanism of
// the steps that it holds.
func (s *state) resume(in []byte, paid *privacy.Handle, steps *int) error {
	if err := s.decode(in); err != nil {
		return err
	}
	return paid.Resume(int64(*steps))
}

func (s *state) fill(in []byte) error {
	next := func() (v uint64) {
		v, in = binary.LittleEndian.Uint64(in), in[8:]
		return v
	}
	if next() != uint64(len(s.counters)) {
		return errCheckpoint
	}
	for _, c := range s.counters {
		*c = int(next())
	}
	for _, v := range s.vectors {
		if next() != uint64(len(v)) {
			return errCheckpoint
		}
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(in[4*i:]))
		}
		in = in[4*len(v):]
	}
	return nil
}
