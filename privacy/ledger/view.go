package ledger

import (
	"errors"
	"fmt"
	"time"

	"weir/internal/disk"
)

// View opens the ledger of a dataset at path, which need not exist, to look at it: nothing
// on disk is changed, a last line that was cut short is left out, and Append is refused.
func View(path, dataset string, clock func() time.Time) (*Ledger, error) {
	l, err := newLedger(view{file{path: path}}, dataset, clock)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

// view is a file that is read and never written.
type view struct{ file }

var errView = errors.New("the ledger is open for looking only")

func (v view) Lock() (func() error, error) { return func() error { return nil }, nil }

// Append does as if the last line had its newline, and refuses charges.
func (v view) Append(data []byte) error {
	if string(data) == "\n" {
		return nil
	}
	return errView
}

func (v view) Truncate(int64) error         { return nil }
func (v view) Sync() error                  { return nil }
func (v view) Aside([]byte) (string, error) { return "", nil }

var _ Store = view{file{disk: disk.Disk{}}}
