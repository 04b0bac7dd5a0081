package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/neighbour"
)

// story is two runs on one dataset, and what happens in between. Everything that is proven of one run holds for what it
// meets; a story asks whether it holds for both together.
type story struct {
	what    string
	fresh   bool          // the second run draws new noise
	moved   bool          // the rows stand in another order, under a new version
	stopped bool          // the first run is interrupted, and the second one continues it
	with    *compile.Plan // of the second run; nil: the first one's
}

// runs returns how many runs a story takes: two on the dataset and, where neighbours are compared, two on one.
func (s story) runs() int {
	if s.stopped {
		return 2
	}
	return 4
}

// stories lists the pairs of runs of an audit. A run that draws no noise has none.
func (a *auditing) stories() (list []story) {
	if paid := func(s *pipeline.Step) bool { return len(s.Spends) > 0 }; !slices.ContainsFunc(a.plan.Plan.Steps, paid) {
		return nil
	}
	if a.Pairs {
		list = []story{{what: "the same spec again, with new noise", fresh: true},
			{what: "the same spec on the rows in another order, declared as a new version", moved: true},
			{what: "a run that is interrupted and continued", stopped: true}}
	}
	if a.With != nil {
		list = append(list, story{what: "the second spec, from the cache of the first", with: a.With})
	}
	return list
}

// twin is two runs that share a folder, an owner's side and a ledger.
type twin struct {
	runs  [2]*trace
	noise *neighbour.Residuals
}

// pair carries out a story on the dataset and on a neighbour with the outputs of mechanisms as they were.
func (a *auditing) pair(ctx context.Context, s story, p pairing) error {
	a.report.Pairs = append(a.report.Pairs, s.what)
	fresh := [2]*neighbour.Frozen{neighbour.NewFrozen(), neighbour.NewFrozen()}
	one, err := a.tell(ctx, s, p.base, fresh)
	if err != nil {
		return err
	}
	faults := a.pairFaults(s, one)
	if s.stopped {
		if base, err := a.base(ctx, p); err != nil {
			return err
		} else if neighbour.Broken(base.err) == nil {
			faults = append(faults, continued(base.trace, one.runs[1])...)
		}
		a.found(faults, s.what, nil)
		return nil
	}
	other, err := a.tell(ctx, s, p.other, [2]*neighbour.Frozen{fresh[0].Neighbour(), fresh[1].Neighbour()})
	if err != nil {
		return err
	}
	faults = append(faults, a.pairFaults(s, other)...)
	for i := range one.runs {
		if neighbour.Broken(one.runs[i].err) == nil {
			faults = append(faults, a.compare(one.runs[i], other.runs[i], p)...)
		}
	}
	a.found(faults, s.what+", on neighbours", nil)
	return nil
}

// tell carries out the runs of a story on one table.
func (a *auditing) tell(ctx context.Context, s story, change Change, frozen [2]*neighbour.Frozen) (t *twin, err error) {
	theatre, err := a.theatre(a.Seed)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, theatre.clear()) }()
	t = &twin{noise: &neighbour.Residuals{}}
	for i := range t.runs {
		m := manner{frozen: frozen[i], noise: t.noise, fresh: s.fresh && i == 1, like: a.first}
		if s.stopped && i == 0 {
			m.stop = a.halfway()
		}
		plan := a.changed(change)
		if i == 1 && s.with != nil {
			plan, m.like = (&Subject{plan: s.with, opts: a.opts, files: a.files}).changed(change), nil
		}
		if i == 1 && s.moved {
			moved, err := a.moved(ctx, change)
			if err != nil {
				return nil, err
			}
			plan = a.changed(moved)
			plan.Spec.Dataset.Version += "-again"
		}
		t.runs[i] = a.played(a.play(ctx, theatre, plan, m))
		a.ran(fmt.Sprint("run ", i+1, " of a pair: ", s.what))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	t.runs[1].watch.Stored(t.runs[0].watch)
	return t, nil
}

// halfway returns the last stage of the plan that works by itself: a run is interrupted before it. Stages that open
// files are tried before a run begins.
func (a *auditing) halfway() string {
	for i := len(a.plan.Steps) - 1; i >= 0; i-- {
		if step := &a.plan.Steps[i]; !step.Lazy && len(step.Work.Files) == 0 {
			return step.ID
		}
	}
	return ""
}

// moved puts a unit of the dataset that a change leaves alone behind all other rows.
func (a *auditing) moved(ctx context.Context, c Change) (Change, error) {
	touched := c.touched()
	units, err := a.choose(ctx, len(reasons()))
	for _, u := range units {
		free := !slices.ContainsFunc(u.places, func(at int64) bool { return slices.Contains(touched, at) })
		if free && len(u.places) > 0 {
			return Change{append(slices.Clone(c.Drop), u.places...), c.Put, append(slices.Clone(u.rows), c.Add...)}, err
		}
	}
	return c, err
}

// pairFaults lists what two runs of a folder show and must not on whatever table.
func (a *auditing) pairFaults(s story, t *twin) []neighbour.Fault {
	faults := append(t.noise.Faults(), neighbour.SharedSecrets(t.runs[0].watch, t.runs[1].watch)...)
	for i, run := range t.runs {
		faults = append(faults, neighbour.Broken(run.err)...)
		if run.err != nil && neighbour.Broken(run.err) == nil && !(s.stopped && i == 0) {
			faults = append(faults, neighbour.Fault{Text: fmt.Sprintf("run %d of the pair fails: %v", i+1, run.err)})
		}
	}
	return faults
}

// continued lists what a run that was interrupted and continued has made otherwise than one that was not.
func continued(whole, run *trace) (faults []neighbour.Fault) {
	for _, name := range neighbour.Differences(whole.seen, run.seen) {
		if name != "the record" && name != "the error" { // which tells that it was continued
			faults = append(faults, neighbour.Fault{Text: name + " is another than that of a run without an interruption"})
		}
	}
	return faults
}
