package question

import (
	"sync"

	"weir/pipeline"
)

// allShares is what a stage's progress is shown in: hundredths.
const allShares = 100

// shares shows the progress of a stage as a share of the whole, each hundredth once,
// whatever the rows are. How many fits or pairs of columns there are to do, and
// whether there are any, may depend on the rows, and fractions of that number would
// tell it; so hundredths that a stage leaps over are shown with the next.
type shares struct {
	mu   sync.Mutex
	next int64 // to be shown
	show func(done, total int64)
}

// newShares shows the beginning.
func newShares(env *pipeline.Env) *shares {
	s := &shares{show: env.Progress}
	s.reach(0)
	return s
}

// of is the environment that counts in a unit of the stage's own.
func (s *shares) of(env *pipeline.Env) *pipeline.Env {
	shown := *env
	shown.Progress = func(done, total int64) {
		if total > 0 {
			s.reach(min(done, total) * allShares / total)
		}
	}
	return &shown
}

// reach shows all up to a share.
func (s *shares) reach(share int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ; s.next <= share; s.next++ {
		s.show(s.next, allShares)
	}
}
