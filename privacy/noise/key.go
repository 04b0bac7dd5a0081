package noise

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

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
