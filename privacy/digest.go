package privacy

import (
	"crypto/sha256"
	"hash"
	"io"

	"weir/privacy/noise"
)

// Digest returns "sha256:" and the 64 hexadecimal digits of the SHA-256 of data, as records, ledgers and recipes name
// it.
func Digest(data []byte) string { return noise.WordSum(sha256.Sum256(data)) }

// DigestHash returns the digest of all that was written to h, a sha256.New().
func DigestHash(h hash.Hash) string { return noise.WordSum([sha256.Size]byte(h.Sum(nil))) }

// DigestReader returns the digest of all bytes of r, and their number.
func DigestReader(r io.Reader) (string, int64, error) {
	h := sha256.New()
	n, err := io.Copy(h, r)
	return DigestHash(h), n, err
}
