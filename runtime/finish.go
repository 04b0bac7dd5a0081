package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"sync"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/record"
	"weir/runtime/book"
	"weir/runtime/schedule"
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
	errs := []error{r.trace.write(r.dir)}
	switch {
	case schedule.Cancelled(err):
		r.record.Status = record.Interrupted
	case err != nil:
		r.record.Status, r.record.Error = record.Failed, publicError(err)
		errs = append(errs, r.writeError(err))
	default:
		errs = append(errs, r.dropError()) // of an attempt that this run continued
	}
	r.orderStages()
	if err == nil {
		errs = append(errs, r.dir.KeepJSON(store.MetricsFile, store.Figures{Metrics: r.record.Metrics, Notes: r.record.Notes}), r.dir.KeepJSON(store.FilesFile, r.record.Internal))
		if r.opts.DropKey {
			r.record.KeyKept = false
			errs = append(errs, book.DropKey(r.dir))
		}
	}
	if r.before != nil && err != nil {
		return errors.Join(errs...) // the record of the finished run stands
	}
	return errors.Join(append(errs, r.dir.WriteRecord(r.record))...)
}

func (r *run) noteStage(step *compile.Step, reused bool, seconds float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.record.Stages = append(r.record.Stages, record.Stage{ID: step.ID, Kind: step.Kind, Recipe: r.recipes[step.ID], From: fromRun(r.earlier[step.ID]), Reused: reused, Seconds: seconds})
}

func fromRun(e *book.Earlier) string {
	if e == nil {
		return ""
	}
	return e.Run
}

// orderStages lists the stages, and what they paid, as the plan does: which of two that run side by side
// ended first may depend on the rows.
func (r *run) orderStages() {
	place := map[string]int{}
	for i := range r.plan.Steps {
		place[r.plan.Steps[i].ID] = i
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortStableFunc(r.record.Stages, func(a, b record.Stage) int { return place[a.ID] - place[b.ID] })
	slices.SortStableFunc(r.record.Charges, func(a, b record.Charge) int { return place[a.Stage] - place[b.Stage] })
}

// trace collects the private figures of running stages (losses, norms) as JSON
// lines; it is written to internal/.
type trace struct {
	mu    sync.Mutex
	lines []traceLine
}

type traceLine struct {
	Stage  string   `json:"stage"`
	Metric string   `json:"metric"`
	Value  *float64 `json:"value"` // nil: no finite number, which JSON cannot hold and no run may end by
}

func (t *trace) add(stage, metric string, value float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	line := traceLine{stage, metric, &value}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		line.Value = nil
	}
	t.lines = append(t.lines, line)
}

func (t *trace) write(dir store.RunDir) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == 0 {
		return nil
	}
	return dir.Keep("trace.jsonl", func(w io.Writer) error {
		e := json.NewEncoder(w)
		for _, l := range t.lines {
			if err := e.Encode(l); err != nil {
				return err
			}
		}
		return nil
	})
}
