package runtime

import (
	"cmp"
	"context"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy"
	"weir/runtime/table"
)

// storedOnce names the lazy tables that are stored, by stage (the dataset among them).
//
// A lazy table is computed anew by each reader. Row-by-row stages over a stored, columnar
// table are cheap, so their readers may each do them again. What rests on a file or a
// generator is not: text is parsed, rows are drawn. There the last table through which all
// readers pass is stored, so that everything before it is done once, in one pass, and
// streamed batch by batch. A table with one reader is never stored: writing it would cost
// more than it saves. A stage of several outputs has as many readers of its input as its
// outputs have together, and is not stored itself, since that takes a pass for each output. Where rows stay in a
// database nobody reads them, so nothing is stored.
func storedOnce(plan *compile.Plan) map[string]bool {
	passes, readers := readings(plan)
	once := map[string]bool{}
	if plan.Dataset.Source.Stays {
		return once
	}
	raw := map[string]bool{pipeline.DatasetID: true} // rests on a source, with nothing stored between
	decide := func(id string) {
		only := readers[id]
		passesOn := len(only) == 1 && only[0].Lazy && len(only[0].Work.Out) == 1
		once[id] = raw[id] && passes[id] > 1 && !passesOn
	}
	decide(pipeline.DatasetID)
	for i := range plan.Steps {
		if step := &plan.Steps[i]; step.Lazy {
			raw[step.ID] = len(step.Work.Files) > 0
			for _, from := range read(step) {
				raw[step.ID] = raw[step.ID] || raw[from] && !once[from]
			}
			if len(step.Work.Out) == 1 {
				decide(step.ID)
			}
		}
	}
	return once
}

// readings counts how often each table would be computed if no lazy one were stored, and
// lists the stages that read it, one that reads it twice twice.
func readings(plan *compile.Plan) (passes map[string]int, readers map[string][]*compile.Step) {
	passes, readers = map[string]int{}, map[string][]*compile.Step{}
	for i := len(plan.Steps) - 1; i >= 0; i-- {
		step := &plan.Steps[i]
		n := 1 // a stage that is not lazy reads what it needs while it runs
		if step.Lazy {
			passes[step.ID] += len(table.Chosen(step.Work.Write))
			if step.Work.Send != nil {
				passes[step.ID]++
			}
			n = passes[step.ID]
		}
		for _, from := range read(step) {
			passes[from] += n
			readers[from] = append(readers[from], step)
		}
	}
	return passes, readers
}

// read lists the stages whose rows a step reads.
func read(step *compile.Step) []string {
	var from []string
	for _, port := range step.Ports {
		for _, ref := range step.Inputs[port.Name] {
			if !port.Lends {
				from = append(from, ref.Stage)
			}
		}
	}
	return from
}

// storeSource stores the rows of the dataset, where that is the table to store.
func (r *run) storeSource(ctx context.Context) error {
	if !r.once[pipeline.DatasetID] {
		return nil
	}
	rows := compile.Step{Step: &pipeline.Step{ID: pipeline.DatasetID, Lazy: true, First: "rows"}, Work: pipeline.Work{Out: pipeline.Headers{"rows": r.source.table.Header}}}
	defer r.opts.turns.Take(r.place(&rows))()
	if tables, ok := r.cache.Load(r.place(&rows), rows.Work.Out); ok {
		r.keep(&rows, tables)
		return nil
	}
	return atStage(rows.ID, r.store(ctx, &rows, pipeline.Tables{"rows": r.source.table}, r.files.Untouched))
}

// place is where the outputs of a stage are stored: under its address. No address says how
// files are parsed, so what rests on a file as it is read belongs to this build of weir.
func (r *run) place(step *compile.Step) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	where := r.addresses[step.ID]
	if step.Lazy {
		where = privacy.Digest([]byte(where + " " + cmp.Or(r.opts.Build, r.record.ID))) // an unknown build shares with no other run
	}
	return where
}
