package runtime

import (
	"context"
	"errors"
	"fmt"
)

// errLocked means that another process holds a run or a ledger.
var errLocked = errors.New("another process is working on it")

// StageError says which stage failed.
type StageError struct {
	Stage string
	Err   error
}

func (e *StageError) Error() string { return fmt.Sprintf("stage %s: %v", e.Stage, e.Err) }
func (e *StageError) Unwrap() error { return e.Err }

// isCancel reports whether err only says that the run was stopped.
func isCancel(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// isStage reports whether err names its stage already.
func isStage(err error) bool {
	var s *StageError
	return errors.As(err, &s)
}
