package runtime

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// PublicRand is public randomness: a function of the spec's seed, the stage and
// the purpose, so that it does not depend on what else runs.
func PublicRand(seed uint64, stage, purpose string) *rand.Rand {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	h := sha256.New()
	h.Write(b[:])
	h.Write([]byte(stage + "\x00" + purpose))
	return rand.New(rand.NewChaCha8([32]byte(h.Sum(nil))))
}
