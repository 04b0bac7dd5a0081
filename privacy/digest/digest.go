// Package digest writes SHA-256 as records, ledgers and recipes name it.
package digest

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
)

// Of returns "sha256:" and the 64 hexadecimal digits of the SHA-256 of data.
func Of(data []byte) string {
	sum := sha256.Sum256(data)
	return text(sum[:])
}

// Sum returns the same of all that was written to h, a sha256.New().
func Sum(h hash.Hash) string { return text(h.Sum(nil)) }

// Read returns the same of all that r gives, and its length in bytes.
func Read(r io.Reader) (string, int64, error) {
	h := sha256.New()
	n, err := io.Copy(h, r)
	return Sum(h), n, err
}

func text(sum []byte) string { return "sha256:" + hex.EncodeToString(sum) }
