package dataset

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"slices"
)

// sketchSize is k of the bottom-k sketch: 32 kB a dataset.
const sketchSize = MostHashes

// MostHashes is how many hashes of rows that stay in a database are asked for (Opening.Hashes).
const MostHashes = 4096

// sketch is the least keyed hashes of the distinct rows of a table, ascending:
// all of them where there are fewer than sketchSize. Which rows it holds does not
// depend on their order or number, and the sketch of a union comes from the sketches of its
// parts (Cohen, Kaplan 2007).
type sketch []uint64

// collector makes a sketch in bounded memory.
type collector struct {
	kept  []uint64
	limit uint64 // hashes from here on cannot be among the least
}

func newCollector() *collector {
	return &collector{kept: make([]uint64, 0, 2*sketchSize), limit: math.MaxUint64}
}

func (c *collector) add(hash uint64) {
	if hash >= c.limit {
		return
	}
	c.kept = append(c.kept, hash)
	if len(c.kept) == cap(c.kept) {
		c.trim()
	}
}

func (c *collector) trim() {
	slices.Sort(c.kept)
	c.kept = slices.Compact(c.kept)
	if len(c.kept) >= sketchSize {
		c.kept = c.kept[:sketchSize]
		c.limit = c.kept[sketchSize-1]
	}
}

func (c *collector) sketch() sketch {
	c.trim()
	return slices.Clone(c.kept)
}

// union is the sketch of the rows of both.
func union(a, b sketch) sketch {
	c := newCollector()
	for _, h := range a {
		c.add(h)
	}
	for _, h := range b {
		c.add(h)
	}
	return c.sketch()
}

// distinct estimates the number of distinct rows; it is exact below sketchSize.
func (s sketch) distinct() float64 {
	if len(s) < sketchSize {
		return float64(len(s))
	}
	return (sketchSize - 1) / (float64(s[len(s)-1]) / math.MaxUint64)
}

// last is the greatest hash up to which s has every row.
func (s sketch) last() uint64 {
	if len(s) < sketchSize {
		return math.MaxUint64
	}
	return s[len(s)-1]
}

// MarshalText is the big-endian words as hexadecimal digits.
func (s sketch) MarshalText() ([]byte, error) {
	var b []byte
	for _, h := range s {
		b = binary.BigEndian.AppendUint64(b, h)
	}
	return hex.AppendEncode(nil, b), nil
}

// UnmarshalText is the inverse of MarshalText.
func (s *sketch) UnmarshalText(text []byte) error {
	b, err := hex.AppendDecode(nil, text)
	if err != nil || len(b)%8 != 0 {
		return errors.New("sketch: must be hexadecimal words of 16 digits")
	}
	*s = nil
	for ; len(b) > 0; b = b[8:] {
		*s = append(*s, binary.BigEndian.Uint64(b))
	}
	return nil
}
