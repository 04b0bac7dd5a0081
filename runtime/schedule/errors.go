package schedule

import (
	"errors"
	"fmt"

	"weir/pipeline"
)

// StageError says which stage an error is of, or that it is of the dataset.
type StageError struct {
	Stage string
	Err   error
}

// Error names the stage in front of the error.
func (e *StageError) Error() string {
	if e.Stage == pipeline.DatasetID {
		return fmt.Sprintf("dataset: %v", e.Err)
	}
	return fmt.Sprintf("stage %s: %v", e.Stage, e.Err)
}

// Unwrap returns the error of the stage.
func (e *StageError) Unwrap() error { return e.Err }

// AtStage names the stage of an error that names none yet.
func AtStage(stage string, err error) error {
	if err == nil || Cancelled(err) || IsStage(err) {
		return err
	}
	return &StageError{stage, err}
}

// IsStage reports whether err names its stage already.
func IsStage(err error) bool {
	var s *StageError
	return errors.As(err, &s)
}
