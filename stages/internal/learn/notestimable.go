package learn

import (
	"context"
	"errors"
)

// NotEstimable says why a model has no unique finite fit. Column is the feature
// that the ones before it determine, -1 where none is to blame.
type NotEstimable struct {
	Column int
	Reason string
}

func (e *NotEstimable) Error() string { return e.Reason }

// Declined is the reason for which the rows allow no fit; "" where there is one,
// or where the run was cancelled. Any other failure of a learner is a reason too:
// it depends on rows, on which no run may fail.
func Declined(err error) string {
	var no *NotEstimable
	switch {
	case err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return ""
	case errors.As(err, &no):
		return no.Reason
	}
	return "the learner failed: " + err.Error()
}
