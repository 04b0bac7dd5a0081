package runtime

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"weir/pipeline"
	"weir/runtime/schedule"
)

// StageError says which stage failed, or that the dataset could not be read.
type StageError struct {
	Stage string
	Err   error
}

func (e *StageError) Error() string {
	if e.Stage == pipeline.DatasetID {
		return fmt.Sprintf("dataset: %v", e.Err)
	}
	return fmt.Sprintf("stage %s: %v", e.Stage, e.Err)
}
func (e *StageError) Unwrap() error { return e.Err }

// atStage names the stage of an error that names none yet.
func atStage(stage string, err error) error {
	if err == nil || schedule.Cancelled(err) || isStage(err) {
		return err
	}
	return &StageError{stage, err}
}

// isStage reports whether err names its stage already.
func isStage(err error) bool {
	var s *StageError
	return errors.As(err, &s)
}

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
	return r.opts.Disk.Remove(filepath.Join(r.dir.Internal(), errorFile))
}
