package runtime

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"weir/privacy/noise"
)

// LoadKey reads the key that an earlier attempt of the same run kept.
func LoadKey(internal string) (noise.Key, error) {
	data, err := os.ReadFile(filepath.Join(internal, "noise.key"))
	if err != nil {
		return noise.Key{}, err
	}
	return noise.ParseKey(strings.TrimSpace(string(data)))
}

// newKey draws a key from the operating system, or, for tests, from a seed.
func newKey(opts Options) (noise.Key, error) {
	if opts.Replay != nil {
		return opts.Replay.Key, nil
	}
	if opts.Insecure != nil {
		return insecureKey(*opts.Insecure), nil
	}
	return noise.NewKey(opts.Random)
}

// insecureKey is a key that anyone who knows the seed can compute.
func insecureKey(seed uint64) noise.Key {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	return noise.Key(sha256.Sum256(append([]byte("weir insecure noise seed "), b[:]...)))
}

// keepKey stores the key where only the owner reads it.
func keepKey(internal string, key noise.Key) error {
	return writeAtomic(filepath.Join(internal, "noise.key"), 0o600, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, key.Hex())
		return err
	})
}

// contentFile tells, on the owner's side, which content a run read.
const contentFile = "content"

func keepContent(internal, content string) error {
	return writeAtomic(filepath.Join(internal, contentFile), 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	})
}

// dropKey removes a kept key.
func dropKey(internal string) error {
	err := os.Remove(filepath.Join(internal, "noise.key"))
	if os.IsNotExist(err) {
		return nil
	}
	return err
}
