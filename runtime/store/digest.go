package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Digest is "sha256:" and the SHA-256 of all that r gives, and how many bytes that is.
func Digest(r io.Reader) (string, int64, error) {
	h := sha256.New()
	n, err := io.Copy(h, r)
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), n, err
}

// DigestFile is the digest and the size of a file.
func DigestFile(path string) (string, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	return Digest(f)
}

// DigestJSON is the digest of plain data; what cannot be written is an error, never
// part of a name.
func DigestJSON(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("digest: %w", err)
	}
	digest, _, err := Digest(bytes.NewReader(data))
	return digest, err
}

// Compact is v as compact JSON: run.json is indented, a plan in memory is not.
func Compact(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
