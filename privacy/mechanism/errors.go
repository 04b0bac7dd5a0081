package mechanism

import "errors"

// ErrNoBounds means that too few numbers came in for the noise: a released fact.
var ErrNoBounds = errors.New("no bin reaches the threshold of")
