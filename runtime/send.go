package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/runtime/database/postgres"
	"weir/runtime/table"
)

// sending lists the steps whose tables are written to servers by this run. A replay writes none, and nor does a run
// with a test seed: no name on the server would say that its noise hides nothing.
func (r *run) sending() (list []*compile.Step) {
	if r.opts.Replay != nil || r.opts.Insecure != nil {
		return nil
	}
	for i := range r.plan.Steps {
		if step := &r.plan.Steps[i]; step.Work.Send != nil {
			list = append(list, step)
		}
	}
	return list
}

// lookAtServers refuses what would end the run when it has paid: a server that is not reached, a role that cannot write
// the table, the role that reads the dataset.
func (r *run) lookAtServers(ctx context.Context) error {
	r.there = map[string]postgres.Standing{}
	retained := map[pipeline.Sending]string{}
	for _, step := range r.sending() {
		dest := *step.Work.Send
		if r.plan.Spec.Experiment != nil {
			return pipeline.AtStage(step.ID, fmt.Errorf("postgres: is set in an experiment, whose runs would write one table; "+
				"must be left out (--set stages.%s=off)", step.ID))
		}
		if other := retained[dest]; other != "" {
			return pipeline.AtStage(step.ID, fmt.Errorf("postgres.table: is %s, which the stage %s writes, must be another one",
				dest.Table, other))
		}
		retained[dest] = step.ID
		there, err := postgres.Look(ctx, placeOf(dest), step.Work.Out[step.First].Domain.Names())
		if err == nil {
			err = r.otherRole(ctx, there)
		}
		if err != nil {
			return pipeline.AtStage(step.ID, fmt.Errorf("postgres: %w", err))
		}
		r.there[step.ID] = there
	}
	return nil
}

// placeOf returns where a table is written to.
func placeOf(to pipeline.Sending) postgres.Place {
	return postgres.Place{Connection: to.Connection, Table: to.Table, Env: os.Getenv}
}

// otherRole refuses to write by the role that reads the dataset, which is to be one that cannot.
func (r *run) otherRole(ctx context.Context, there postgres.Standing) error {
	enabled, is := r.source.Opened.(pipeline.OnServer)
	if !is {
		return nil
	}
	reads, err := enabled.Server(ctx)
	if err == nil && reads.ID == there.Server && reads.Role == there.Role {
		err = errors.New("connection: is of the role that reads the dataset, must be of one of its own")
	}
	return err
}

// mark begins the comment of a table that this run writes.
func (r *run) mark() string { return markOf(r.record.ID) }

func markOf(id string) string { return "weir run " + id }

// marks tells whether a run has written what stands somewhere.
func marks(id string, there postgres.Standing) bool {
	return there.Exists && strings.HasPrefix(there.Mark, markOf(id)+",")
}

// freeNames refuses names that something else has on a server, before anything is charged.
func (r *run) freeNames() error {
	for _, step := range r.sending() {
		if there := r.there[step.ID]; there.Exists && !marks(r.record.ID, there) {
			return pipeline.AtStage(step.ID, fmt.Errorf("postgres.table: is %s, which %w; nothing was charged",
				step.Work.Send.Table, postgres.ErrExists))
		}
	}
	return nil
}

// unsent reports whether the table of a finished run is not on its server; another may have its name.
func (r *run) unsent(id string) bool {
	for _, step := range r.sending() {
		if !marks(id, r.there[step.ID]) {
			return true
		}
	}
	return false
}

// send writes the tables of servers. It is the last that can fail before the release has its name; what was written
// before an error is found written when the run is continued.
func (r *run) send(ctx context.Context) error {
	for _, step := range r.sending() {
		if err := r.sendTable(ctx, step); err != nil {
			return pipeline.AtStage(step.ID, fmt.Errorf("postgres: %s: %w", step.Work.Send.Table, err))
		}
	}
	return nil
}

func (r *run) sendTable(ctx context.Context, step *compile.Step) (err error) {
	defer r.guarded(step, &err)
	t := r.outputs.tables[pipeline.Ref{Stage: step.ID, Port: step.First}]
	if t.Class == pipeline.Private {
		return errors.New("holds private rows, must be released")
	}
	schema, rows, err := table.Typed(t)
	if err != nil {
		return err
	}
	made, err := postgres.Write(ctx, placeOf(*step.Work.Send), schema, rows(ctx), r.mark())
	if err == nil && made {
		to := step.Work.Send
		r.opts.Log.Warn(fmt.Sprintf("the table %s of the stage %s is on the server that %s names", to.Table, step.ID,
			to.Connection))
	}
	return err
}
