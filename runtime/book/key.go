package book

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"weir/internal/disk"
	"weir/privacy/noise"
	"weir/runtime/store"
)

const keyFile = "noise.key"

// LoadKey reads the key that an earlier attempt of the same run kept.
func LoadKey(internal string) (noise.Key, error) {
	data, err := disk.ReadFile(filepath.Join(internal, keyFile), 0)
	if err != nil {
		return noise.Key{}, err
	}
	return noise.ParseKey(strings.TrimSpace(string(data)))
}

// NewKey draws a key from the operating system, or, for tests, from a seed.
func NewKey(random io.Reader, insecure *uint64) (noise.Key, error) {
	if insecure != nil {
		return InsecureKey(*insecure), nil
	}
	return noise.NewKey(random)
}

// InsecureKey is a key that anyone who knows the seed can compute.
func InsecureKey(seed uint64) noise.Key {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	return noise.Key(sha256.Sum256(append([]byte("weir insecure noise seed "), b[:]...)))
}

// KeepKey stores the key where only the owner reads it.
func KeepKey(dir store.RunDir, key noise.Key) error {
	return dir.Keep(keyFile, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, key.Hex())
		return err
	})
}

// DropKey removes a kept key.
func DropKey(dir store.RunDir) error { return dir.Disk.Remove(filepath.Join(dir.Internal(), keyFile)) }
