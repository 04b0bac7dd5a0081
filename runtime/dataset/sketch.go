package dataset

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"slices"

	"weir/privacy/noise"
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

// union returns the sketch of the rows of both.
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

// last returns the greatest hash up to which s has every row.
func (s sketch) last() uint64 {
	if len(s) < sketchSize {
		return math.MaxUint64
	}
	return s[len(s)-1]
}

// MarshalText returns the big-endian words as hexadecimal digits.
func (s sketch) MarshalText() ([]byte, error) {
	var b []byte
	for _, h := range s {
		b = binary.BigEndian.AppendUint64(b, h)
	}
	return hex.AppendEncode(nil, b), nil
}

// UnmarshalText undoes MarshalText.
func (s *sketch) UnmarshalText(text []byte) error {
	b, err := hex.AppendDecode(nil, text)
	if err != nil || len(b)%8 != 0 {
		return errors.New("sketch: is other text, must be words of 16 hexadecimal digits")
	}
	*s = nil
	for ; len(b) > 0; b = b[8:] {
		*s = append(*s, binary.BigEndian.Uint64(b))
	}
	return nil
}

// valid refuses a sketch that no collector makes.
func (s sketch) valid() error {
	if !slices.IsSorted(s) || len(s) > sketchSize {
		return errors.New("has a sketch that is not sorted or is too long")
	}
	return nil
}

// seal returns a sketch of hashes that were made without a key, as it is stored: each hash enciphered, in 32
// hexadecimal digits. A hash without a key tells a row of few columns to whoever tries all that it may be
// (docs/design/identity.md).
func (s sketch) seal(key noise.Key) (string, error) {
	block, err := sealing(key)
	if err != nil {
		return "", err
	}
	var text []byte
	for _, h := range s {
		var b [aes.BlockSize]byte
		binary.BigEndian.PutUint64(b[:], h)
		block.Encrypt(b[:], b[:])
		text = hex.AppendEncode(text, b[:])
	}
	return string(text), nil
}

// unseal undoes seal. Of a text that was altered or sealed by another key it returns an error.
func unseal(key noise.Key, text string) (s sketch, err error) {
	block, err := sealing(key)
	if err != nil {
		return nil, err
	}
	data, err := hex.DecodeString(text)
	if err != nil || len(data)%aes.BlockSize != 0 {
		return nil, errors.New("has a sealed sketch that is not words of 32 hexadecimal digits")
	}
	for ; len(data) > 0; data = data[aes.BlockSize:] {
		block.Decrypt(data, data)
		if binary.BigEndian.Uint64(data[8:]) != 0 {
			return nil, errors.New("has a sketch that was sealed by another key")
		}
		s = append(s, binary.BigEndian.Uint64(data))
	}
	return s, s.valid()
}

// sealing returns the cipher of stored hashes, AES-256 (FIPS 197) under a key that follows from the index's. Equal
// hashes are equal blocks, as equal rows are equal hashes in a keyed sketch.
func sealing(key noise.Key) (cipher.Block, error) {
	sum := sumOf(key, "rows in a database", "")
	return aes.NewCipher(sum[:])
}
