package runtime

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
)

// digestFile is the sha256 and size of a file's bytes.
func digestFile(path string) (string, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	return digestReader(f)
}

func digestReader(r io.Reader) (string, int64, error) {
	h := sha256.New()
	n, err := io.Copy(h, r)
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), n, err
}

// FileDigest is the sha256 of a file's bytes, as records write it.
func FileDigest(path string) (string, error) {
	digest, _, err := digestFile(path)
	return digest, err
}
