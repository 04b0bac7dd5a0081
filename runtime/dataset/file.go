package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"weir/internal/disk"
)

// ErrDamaged marks a file of the owner's side that is not as weir wrote it. Whoever charges a dataset needs it; who
// only looks at a ledger goes on without it, and says so.
var ErrDamaged = errors.New("is damaged")

// readPrivate decodes a file of the owner's side. An absent file is found false;
// a damaged one is an error, never an absent one: what it knew would be lost.
func readPrivate(path string, v interface{ valid() error }, cure string) (found bool, err error) {
	data, err := disk.ReadFile(path, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := decode(data, v); err != nil {
		return false, fmt.Errorf("%s: %w: it %w, must be as weir wrote it: %s", path, ErrDamaged, err, cure)
	}
	return true, nil
}

// decode does not pass on what the decoder says, which may quote a key.
func decode(data []byte, v interface{ valid() error }) error {
	if err := json.Unmarshal(data, v); err != nil {
		return errors.New("is not JSON as weir writes it")
	}
	return v.valid()
}

// writePrivate replaces the file as a whole, or leaves what was there; what is
// there already is not written again.
func writePrivate(d disk.Disk, path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if old, err := disk.ReadFile(path, 0); err == nil && bytes.Equal(old, data) {
		return d.Chmod(path, 0o600)
	}
	return d.WriteBytes(path, 0o600, data)
}

// lock waits until no other process changes the file. It is the lock of ledgers:
// it ends with its process and cannot go stale.
func lock(d disk.Disk, path string) (unlock func() error, err error) {
	unlock, err = d.Lock(path)
	if err != nil {
		return nil, fmt.Errorf("%s: lock: %w", path, err)
	}
	return unlock, nil
}
