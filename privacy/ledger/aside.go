package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// remnantSuffix ends the name of a file with what was removed from a ledger.
const remnantSuffix = ".remnant"

// Aside keeps data in a file of its own beside the ledger, synced, for the owner alone. A
// file that is there is never written over; one that holds the same bytes is theirs.
func (f file) Aside(data []byte) (string, error) {
	for n := 1; ; n++ {
		path := fmt.Sprintf("%s%s-%d", string(f), remnantSuffix, n)
		h, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			if kept, err := os.ReadFile(path); err == nil && bytes.Equal(kept, data) {
				return path, nil
			}
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = h.Write(data)
		return path, errors.Join(err, h.Sync(), h.Close(), syncDir(filepath.Dir(path)))
	}
}

// Remnants lists the files beside the ledger at path that keep what was removed from it.
func Remnants(path string) (kept []string, err error) {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s%s-%d", path, remnantSuffix, n)
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return kept, nil
		} else if err != nil {
			return kept, err
		}
		kept = append(kept, name)
	}
}
