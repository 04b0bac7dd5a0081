// Package noise turns a 256-bit key into independent streams of randomness and
// samples from them the distributions that mechanisms need.
//
// A run has one Key. Each use of a paid mechanism gets a Source, and each site
// that draws gets a Stream of its own by purpose and index, so that what is drawn
// depends on neither the order of execution nor the number of cores. The samplers
// use IEEE additions, multiplications, divisions and square roots only, never a
// fused or platform-specific one: a key gives the same bits on every machine.
package noise

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"
)

// ErrReused marks a stream that was asked for twice. Noise that stands on two
// values is not noise: their difference shows.
var ErrReused = errors.New("a stream of noise was asked for twice")

// Source is the randomness of one use of a paid mechanism. It may be shared
// between goroutines.
type Source struct {
	named func() hash.Hash // has taken key and name; it holds them where fmt cannot follow, whatever the verb
	name  string
	use   uint64

	mu    sync.Mutex
	taken []site
	room  [4]site // of taken: a use rarely has more sites
}

type site struct {
	purpose string
	index   uint64
	times   uint64
}

// NewSource returns the randomness named name under key. Only the runtime's payer
// and tests call it (deps_test.go): everyone else opens a planned mechanism. A
// name holds the recipe of what is done with the noise, so that another
// computation never meets the same numbers.
func NewSource(key Key, name string) *Source {
	mac := hmac.New(sha256.New, key[:])
	mac.Reset() // keeps what it makes of the key, for its copies
	io.WriteString(mac, "weir noise stream 2")
	writeString(mac, name)
	return &Source{named: func() hash.Hash {
		c, err := mac.(hash.Cloner).Clone()
		if err != nil {
			panic(err) // HMAC-SHA-256 can always be copied
		}
		return c
	}, name: name}
}

// writeString writes the length first, so that no two lists of strings are alike.
func writeString(to io.Writer, s string) {
	to.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(s))))
	io.WriteString(to, s)
}

// Use returns the randomness of the i-th use.
func (s *Source) Use(i uint64) *Source { return &Source{named: s.named, name: s.name, use: i + 1} }

// Stream returns the stream of one draw site, AES-256 in counter mode under
// HMAC-SHA-256(key, name, use, purpose, index, times). HMAC is a pseudo-random
// function, so streams with different names are independent as far as anyone
// without the key can tell. A site that is asked for twice gets other numbers, and
// an error that wraps ErrReused, so that the caller's mistake neither repeats
// noise nor stays unseen.
func (s *Source) Stream(purpose string, index uint64) (*Stream, error) {
	times := s.note(purpose, index)
	mac := s.named()
	writeString(mac, purpose)
	for _, n := range []uint64{s.use, index, times} {
		mac.Write(binary.LittleEndian.AppendUint64(nil, n))
	}
	if times > 0 {
		return newStream(mac.Sum(nil)), fmt.Errorf("%w: %s %d of %s, use %d", ErrReused, purpose, index, s.name, s.use)
	}
	return newStream(mac.Sum(nil)), nil
}

// note counts how often a site was asked for before. A use has a handful of
// sites (a chunk of examples is one), so a list is faster than a map.
func (s *Source) note(purpose string, index uint64) (before uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.taken {
		if t := &s.taken[i]; t.index == index && t.purpose == purpose {
			t.times++
			return t.times
		}
	}
	if s.taken == nil {
		s.taken = s.room[:0]
	}
	s.taken = append(s.taken, site{purpose, index, 0})
	return 0
}

// Format prints the name and never the key.
func (s *Source) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "noise source %q", s.name) }

// Key is the secret of one run. Whoever holds it can replay, and subtract, all
// noise of the run. It prints as its commitment, whatever the format; only Hex
// shows it.
type Key [32]byte

// NewKey draws a key from r, the operating system's generator in a run.
func NewKey(r io.Reader) (Key, error) {
	var k Key
	if _, err := io.ReadFull(r, k[:]); err != nil {
		return Key{}, fmt.Errorf("noise key: 32 random bytes could not be read: %w", err)
	}
	return k, nil
}

// errKey does not quote what it found: it may be most of a key.
var errKey = errors.New("noise key: must be 64 hexadecimal digits and nothing else")

// ParseKey reads the text that Hex wrote.
func ParseKey(s string) (Key, error) {
	var k Key
	if len(s) != hex.EncodedLen(len(k)) {
		return Key{}, errKey
	}
	if _, err := hex.Decode(k[:], []byte(s)); err != nil {
		return Key{}, errKey
	}
	return k, nil
}

// Hex returns the secret itself, for the key file and nothing else.
func (k Key) Hex() string { return hex.EncodeToString(k[:]) }

// Commitment returns "sha256:" and the hexadecimal SHA-256 of the key's bytes,
// which identifies the key without giving it away.
func (k Key) Commitment() string { return WordSum(sha256.Sum256(k[:])) }

// WordSum returns "sha256:" and the hexadecimal digits of a SHA-256.
func WordSum(sum [sha256.Size]byte) string { return "sha256:" + hex.EncodeToString(sum[:]) }

// String returns the commitment, not the key.
func (k Key) String() string { return k.Commitment() }

// Format prints the commitment for every verb, %x and %#v included.
func (k Key) Format(f fmt.State, _ rune) { io.WriteString(f, k.Commitment()) }

// MarshalText encodes the commitment, so that JSON and logs never hold a key.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.Commitment()), nil }
