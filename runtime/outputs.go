package runtime

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy"
	"weir/runtime/store"
	"weir/runtime/table"
)

// outputs holds the tables that the stages of a run have made, and knows which of them are stored.
type outputs struct {
	cache store.Cache
	once  map[string]bool // lazy tables that are stored

	mu     sync.Mutex
	tables map[pipeline.Ref]pipeline.Table
	stored []string // addresses that this run stored under
}

// newOutputs returns the outputs of a run that has opened its dataset and made nothing yet.
func newOutputs(plan *compile.Plan, dataset pipeline.Table, opts Options) *outputs {
	return &outputs{cache: store.CacheOf(opts.Disk, opts.Out), once: storedOnce(plan),
		tables: map[pipeline.Ref]pipeline.Table{{Stage: pipeline.DatasetID}: dataset}}
}

// keep makes a step's outputs available to those that read them.
func (o *outputs) keep(step *compile.Step, tables pipeline.Tables) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for port, t := range tables {
		o.tables[pipeline.Ref{Stage: step.ID, Port: port}] = t
		if port == step.First {
			o.tables[pipeline.Ref{Stage: step.ID}] = t
		}
	}
}

// stores reports whether the outputs of a step are stored.
func (o *outputs) stores(step *compile.Step) bool { return !step.Lazy || o.once[step.ID] }

// load takes the outputs of a step from the cache, if they are there and whole.
func (o *outputs) load(step *compile.Step, where string) bool {
	tables, there := o.cache.Load(where, step.Work.Out)
	if there {
		o.keep(step, tables)
	}
	return there
}

// store writes the outputs of a step to the cache, if what was promised was done.
func (o *outputs) store(ctx context.Context, step *compile.Step, where string, out pipeline.Tables,
	promised func() error) error {
	o.mu.Lock()
	o.stored = append(o.stored, where)
	o.mu.Unlock()
	tables, err := o.cache.Store(ctx, where, step.Work.Out, out, promised)
	if err == nil {
		o.keep(step, tables)
	}
	return err
}

// forget takes out of the cache what this run stored: it may be of rows that the
// address does not name.
func (o *outputs) forget() error {
	var errs []error
	for _, address := range o.stored {
		errs = append(errs, o.cache.Forget(address))
	}
	return errors.Join(errs...)
}

// inputs returns what a step reads, by port.
func (o *outputs) inputs(step *compile.Step) pipeline.Tables {
	o.mu.Lock()
	defer o.mu.Unlock()
	in := pipeline.Tables{}
	for _, port := range step.Ports {
		for i, ref := range step.Inputs[port.Name] {
			name := port.Name
			if port.Many {
				name = pipeline.Indexed(port.Name, i)
			}
			t := o.tables[ref]
			t.Header = t.Header.Clone() // a stage may write to what it is given, and to nothing else
			if port.Lends {
				t = lent(t)
			}
			in[name] = t
		}
	}
	return in
}

// lent returns an artifact of which a stage may know the header and nothing else: it does
// not raise the class of what the stage returns, so neither rows nor files of it must be read.
func lent(t pipeline.Table) pipeline.Table {
	t.Files = func(context.Context) ([]pipeline.File, error) { return nil, errLent }
	t.Open = func(context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) { yield(nil, errLent) }
	}
	return t
}

var errLent = errors.New("the port lends a header only, but its rows were read")

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
	var stages []string
	for _, port := range step.Ports {
		for _, ref := range step.Inputs[port.Name] {
			if !port.Lends {
				stages = append(stages, ref.Stage)
			}
		}
	}
	return stages
}

// storeSource stores the rows of the dataset, where that is the table to store.
func (r *run) storeSource(ctx context.Context) error {
	if !r.outputs.once[pipeline.DatasetID] {
		return nil
	}
	rows := compile.Step{Step: &pipeline.Step{ID: pipeline.DatasetID, Lazy: true, First: "rows"},
		Work: pipeline.Work{Out: pipeline.Headers{"rows": r.source.table.Header}}}
	where := r.place(&rows)
	defer r.opts.turns.Take(where)()
	if r.outputs.load(&rows, where) {
		return nil
	}
	return pipeline.AtStage(rows.ID, r.store(ctx, &rows, where, pipeline.Tables{"rows": r.source.table},
		r.files.Untouched))
}

// place returns where the outputs of a stage are stored: under its address. No address says how
// files are parsed, so what rests on a file as it is read belongs to this build of weir.
func (r *run) place(step *compile.Step) string {
	where := r.purse.Address(step.ID)
	if step.Lazy {
		owner := cmp.Or(r.opts.Build, r.attempt.ID) // an unknown build shares with no other run
		where = privacy.Digest([]byte(where + " " + owner))
	}
	return where
}
