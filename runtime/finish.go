package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"sync"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/record"
	"weir/runtime/payment"
	"weir/runtime/store"
)

// collectMetrics puts a stage's figures into the record, which is internal.
func (r *run) collectMetrics(ctx context.Context, stage string, t pipeline.Table) error {
	metrics, err := pipeline.ReadMetrics(ctx, t)
	if err != nil {
		return err
	}
	for _, m := range metrics {
		key := stage + "." + m.Key()
		if !math.IsNaN(m.Value) && !math.IsInf(m.Value, 0) {
			r.record.Metrics[key] = m.Value
		}
		if m.Note != "" {
			r.record.Notes[key] = m.Note
		}
	}
	return nil
}

// end closes the record with what became of the run.
func (r *run) end(err error) error {
	now := r.opts.Clock()
	r.record.Finished, r.record.Status, r.record.Error = &now, record.Done, ""
	dir := r.attempt.Dir
	errs := []error{r.watch.write(dir)}
	switch {
	case pipeline.Cancelled(err):
		r.record.Status = record.Interrupted
	case err != nil:
		r.record.Status, r.record.Error = record.Failed, publicError(err)
		errs = append(errs, r.writeError(err))
	default:
		errs = append(errs, r.dropError()) // of an attempt that this run continued
	}
	r.record.Stages = append(r.record.Stages, r.watch.stages...)
	r.orderStages()
	if err == nil {
		errs = append(errs, dir.KeepJSON(store.MetricsFile, store.Figures{Metrics: r.record.Metrics, Notes: r.record.Notes}),
			dir.KeepJSON(store.FilesFile, r.record.Internal))
		if r.opts.DropKey {
			r.record.KeyKept = false
			errs = append(errs, payment.DropKey(dir))
		}
	}
	if r.attempt.Again != nil && err != nil {
		return errors.Join(errs...) // the record of the finished run stands
	}
	return errors.Join(append(errs, dir.WriteRecord(r.record))...)
}

// noteStage notes that a stage has ended.
func (r *run) noteStage(step *compile.Step, reused bool, seconds float64) {
	s := record.Stage{ID: step.ID, Kind: step.Kind, Recipe: r.task.Recipes[step.ID], Reused: reused, Seconds: seconds}
	if earlier := r.purse.Earlier(step); earlier != nil {
		s.From = earlier.Run
	}
	r.watch.ended(s)
}

// orderStages lists the stages, and what they paid, as the plan does: which of two that run side by side
// ended first may depend on the rows.
func (r *run) orderStages() {
	place := map[string]int{}
	for i := range r.plan.Steps {
		place[r.plan.Steps[i].ID] = i
	}
	slices.SortStableFunc(r.record.Stages, func(a, b record.Stage) int { return place[a.ID] - place[b.ID] })
	slices.SortStableFunc(r.record.Charges, func(a, b record.Charge) int { return place[a.Stage] - place[b.Stage] })
}

// errorFile keeps, on the owner's side, what a failed run said.
const errorFile = "error.txt"

// publicError returns what run.json says of an error: where it happened. Its text may
// count rows, and run.json lies outside internal/.
func publicError(err error) string {
	text := "failed; what it said is in internal/" + errorFile
	var in *pipeline.StageError
	if errors.As(err, &in) {
		return fmt.Sprintf("stage %s: %s", in.Stage, text)
	}
	return text
}

// writeError keeps the text of an error on the owner's side.
func (r *run) writeError(err error) error {
	return r.attempt.Dir.Keep(errorFile, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, err)
		return err
	})
}

// dropError removes the text of an attempt that this run has continued.
func (r *run) dropError() error {
	return r.opts.Disk.Remove(filepath.Join(r.attempt.Dir.Internal(), errorFile))
}

// watch follows the stages of a run while they work: how far they are, and their private figures.
type watch struct {
	reporter Reporter

	mu     sync.Mutex
	done   map[string][2]int64 // progress of the stages at work
	stages []record.Stage      // that have ended
	stops  []Stop
	lines  []traceLine
}

// Stop is where a stage stood when its run was cancelled.
type Stop struct {
	Stage       string
	Done, Total int64 // as its progress counts
	Checkpoint  bool  // there is one to continue from; else the stage begins anew, with the same noise
}

// reached notes and shows how far a stage is.
func (w *watch) reached(stage string, done, total int64) {
	w.mu.Lock()
	w.done[stage] = [2]int64{done, total}
	w.mu.Unlock()
	w.reporter.Progress(stage, done, total)
}

// ended notes that a stage has.
func (w *watch) ended(s record.Stage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stages = append(w.stages, s)
}

// stopped notes where a stage stood that was cancelled, unless it never said.
func (w *watch) stopped(stage string, checkpoint bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if done := w.done[stage]; done[1] > 0 {
		w.stops = append(w.stops, Stop{stage, done[0], done[1], checkpoint})
	}
}

// traceLine is a private figure of a running stage, such as a loss or a norm.
type traceLine struct {
	Stage  string   `json:"stage"`
	Metric string   `json:"metric"`
	Value  *float64 `json:"value"` // nil: no finite number, which JSON cannot hold and no run may end by
}

// add collects a private figure.
func (w *watch) add(stage, metric string, value float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := traceLine{stage, metric, &value}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		line.Value = nil
	}
	w.lines = append(w.lines, line)
}

// write keeps the private figures as JSON lines, in internal/.
func (w *watch) write(dir store.RunDir) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.lines) == 0 {
		return nil
	}
	return dir.Keep("trace.jsonl", func(out io.Writer) error {
		e := json.NewEncoder(out)
		for _, line := range w.lines {
			if err := e.Encode(line); err != nil {
				return err
			}
		}
		return nil
	})
}
