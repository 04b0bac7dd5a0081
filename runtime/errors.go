package runtime

import (
	"context"
	"errors"
	"fmt"

	"weir/pipeline"
)

// errLocked means that another process holds a run or a ledger.
var errLocked = errors.New("another process is working on it")

// ErrConfined marks a path that leaves the spec's folder under Confine.
var ErrConfined = errors.New("must be a file inside the spec's folder (--confine)")

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

// isCancel reports whether err only says that the run was stopped.
func isCancel(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// atStage names the stage of an error that names none yet.
func atStage(stage string, err error) error {
	if err == nil || isCancel(err) || isStage(err) {
		return err
	}
	return &StageError{stage, err}
}

// isStage reports whether err names its stage already.
func isStage(err error) bool {
	var s *StageError
	return errors.As(err, &s)
}
