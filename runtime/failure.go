package runtime

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// errorFile keeps, on the owner's side, what a failed run said.
const errorFile = "error.txt"

// publicError is what run.json says of an error: where it happened. Its text may
// count rows, and run.json lies outside internal/.
func publicError(err error) string {
	said := "failed; what it said is in internal/" + errorFile
	var at *StageError
	if errors.As(err, &at) {
		return fmt.Sprintf("stage %s: %s", at.Stage, said)
	}
	return said
}

func (r *run) writeError(err error) error {
	return r.dir.Keep(errorFile, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, err)
		return err
	})
}

func (r *run) dropError() error {
	err := os.Remove(filepath.Join(r.dir.Internal(), errorFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
