// Package noise turns a 256-bit key into independent streams of randomness and
// samples from them the distributions that mechanisms need.
//
// A run has one Key. Each paid charge gets a Source, and each site that draws
// gets a Stream of its own by purpose and index, so that what is drawn depends
// on neither the order of execution nor the number of cores. The samplers use
// IEEE additions, multiplications, divisions and square roots only, never a
// fused or platform-specific one: a key gives the same bits on every machine.
package noise

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
)

// Source is the randomness that one paid charge bought. It does not change and
// may be shared between goroutines.
type Source struct {
	key    *Key // a pointer, for fmt follows none inside a struct
	charge string
}

// NewSource returns the randomness of the named charge under key. Only the
// runtime's spender and tests call it; everyone else gets a Source by paying.
// The same charge name under the same key gives the same noise, so a name must
// never be used for two charges: noise used twice can be subtracted.
func NewSource(key Key, charge string) *Source { return &Source{key: &key, charge: charge} }

// Stream returns the stream of one draw site, AES-256 in counter mode under
// HMAC-SHA-256(key, charge, purpose, index). HMAC is a pseudo-random function,
// so streams with different names are independent as far as anyone without the
// key can tell. A Stream taken twice repeats itself; take each once.
func (s *Source) Stream(purpose string, index uint64) *Stream {
	mac := hmac.New(sha256.New, s.key[:])
	io.WriteString(mac, "weir noise stream 1")
	for _, part := range []string{s.charge, purpose} {
		mac.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(part))))
		io.WriteString(mac, part)
	}
	mac.Write(binary.LittleEndian.AppendUint64(nil, index))
	return newStream(mac.Sum(nil))
}

// Format prints the charge and never the key.
func (s Source) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "noise source of charge %q", s.charge) }
