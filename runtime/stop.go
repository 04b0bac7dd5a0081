package runtime

import (
	"weir/pipeline/compile"
	"weir/runtime/schedule"
)

// Stop is where a stage stood when its run was cancelled.
type Stop struct {
	Stage       string
	Done, Total int64 // as its progress counts
	Checkpoint  bool  // there is one to continue from; else the stage begins anew, with the same noise
}

// reached notes and shows how far a stage is.
func (r *run) reached(stage string, done, total int64) {
	r.mu.Lock()
	r.at[stage] = [2]int64{done, total}
	r.mu.Unlock()
	r.opts.Progress.Progress(stage, done, total)
}

// stopped notes where a stage stood that was cancelled, unless it never said.
func (r *run) stopped(step *compile.Step, err error) {
	if !schedule.Cancelled(err) {
		return
	}
	kept := r.cache.Scratch(r.place(step)).Drawn() != nil
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.at[step.ID]; at[1] > 0 {
		r.stops = append(r.stops, Stop{step.ID, at[0], at[1], kept})
	}
}
