// Package noise turns a 256-bit key into independent streams of randomness and
// samples from them the distributions that mechanisms need.
package noise

// Key is the secret of one run. Whoever holds it can replay, and subtract, all
// noise of the run.
type Key [32]byte

// Source is the randomness that one paid charge bought.
type Source struct {
	key    Key
	charge string
}

// NewSource returns the randomness of the named charge under key. Only the
// runtime's spender and tests call it; everyone else gets a Source by paying.
func NewSource(key Key, charge string) *Source { return &Source{key: key, charge: charge} }
