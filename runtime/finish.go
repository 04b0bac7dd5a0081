package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"sort"

	"weir/pipeline"
	"weir/record"
)

// collectMetrics puts a stage's figures into the record, which is internal.
func (r *run) collectMetrics(ctx context.Context, name string, t pipeline.Table) error {
	metrics, err := pipeline.ReadMetrics(ctx, t)
	if err != nil {
		return err
	}
	for _, m := range metrics {
		key := name + "." + m.Key()
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
	switch {
	case isCancel(err):
		r.record.Status = record.Interrupted
	case err != nil:
		r.record.Status, r.record.Error = record.Failed, err.Error()
	}
	errs := []error{r.trace.write(r.internalPath("trace.jsonl"))}
	if err == nil {
		errs = append(errs, r.writeMetrics())
		if r.opts.DropKey {
			r.record.KeyKept = false
			errs = append(errs, dropKey(r.dir.internal()))
		}
	}
	return errors.Join(append(errs, r.dir.writeRecord(r.record))...)
}

// writeMetrics keeps all figures against real rows in internal/metrics.json.
func (r *run) writeMetrics() error {
	return writeAtomic(r.internalPath("metrics.json"), 0o600, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(figures{r.record.Metrics, r.record.Notes})
	})
}

func (r *run) noteStage(step *pipeline.Step, reused bool, seconds float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.stageRecord(step.ID)
	s.Kind, s.Recipe, s.Reused, s.Seconds = step.Kind, r.recipes[step.ID], reused, seconds
}

// stageRecord finds or adds the record of a stage; r.mu is held.
func (r *run) stageRecord(id string) *record.Stage {
	for i := range r.record.Stages {
		if r.record.Stages[i].ID == id {
			return &r.record.Stages[i]
		}
	}
	r.record.Stages = append(r.record.Stages, record.Stage{ID: id})
	return &r.record.Stages[len(r.record.Stages)-1]
}

func sortedPorts(step *pipeline.Step) []string {
	ports := make([]string, 0, len(step.Work.Out))
	for p := range step.Work.Out {
		ports = append(ports, p)
	}
	sort.Strings(ports)
	return ports
}
