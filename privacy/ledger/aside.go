package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"weir/internal/disk"
)

// remnantName is that of the nth file with what was removed from a ledger.
func remnantName(path string, n int) string { return fmt.Sprintf("%s.remnant-%d", path, n) }

// Aside keeps data in a file of its own beside the ledger, for the owner alone. A file
// that is there is never written over; one that holds the same bytes is theirs.
func (f file) Aside(data []byte) (string, error) {
	for n := 1; ; n++ {
		path := remnantName(f.path, n)
		err := f.disk.New(path, 0o600, data)
		if !errors.Is(err, fs.ErrExist) {
			return path, err
		}
		if kept, err := disk.ReadFile(path, 0); err == nil && bytes.Equal(kept, data) {
			return path, f.disk.Sync(path)
		}
	}
}

// Remnants lists the files beside the ledger at path that keep what was removed from it.
func Remnants(path string) (kept []string, err error) {
	for n := 1; ; n++ {
		name := remnantName(path, n)
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return kept, nil
		} else if err != nil {
			return kept, err
		}
		kept = append(kept, name)
	}
}
