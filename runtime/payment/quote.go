package payment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"weir/pipeline/compile"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/store"
)

// Quote is what one run, or the runs of an experiment together, are about to charge to the
// ledger of a dataset.
type Quote struct {
	Statement
	Dues []Due `json:"stages"`
}

// Due is a paid stage of a run.
type Due struct {
	Run        int      `json:"run,omitempty"` // of an experiment, from 1
	Stage      string   `json:"stage"`
	Epsilon    *float64 `json:"epsilon_alone"`               // proven
	Charges    int      `json:"charges"`                     // one for each mechanism of the stage
	Published  *float64 `json:"epsilon_published,omitempty"` // by the accounting of a paper: no bound
	From       string   `json:"reused,omitempty"`            // run that has charged it; "" is a new charge
	Unfinished bool     `json:"unfinished,omitempty"`        // that run has not finished the stage, which is continued with its noise
}

// Charges reports whether anything is to be charged.
func (q Quote) Charges() bool { return q.Bill > 0 }

// Quote returns what the run is about to charge, once Search has found what is paid for.
func (p *Purse) Quote() (q Quote, err error) {
	q.Dues = p.dues(0)
	q.Statement, err = p.book.Statement(p)
	return q, err
}

// chargedBy returns the run that has charged a stage: the one whose noise it takes or, before it was
// interrupted, this one. "" is nobody.
func (p *Purse) chargedBy(s *compile.Step) string {
	switch earlier := p.Earlier(s); {
	case earlier != nil:
		return earlier.Run
	case !p.task.Plan.Budget.Infinite() && p.charged(p.attempt.ID, s):
		return p.attempt.ID
	}
	return ""
}

// dues lists the paid stages of the run, which has a number in an experiment.
func (p *Purse) dues(number int) (list []Due) {
	for i := range p.task.Plan.Steps {
		if s := &p.task.Plan.Steps[i]; draws(s) {
			run := p.chargedBy(s)
			list = append(list, Due{Run: number, Stage: s.ID, Epsilon: s.Alone, Charges: len(s.Spends),
				Published: s.Published, From: run, Unfinished: p.unfinished(s, run)})
		}
	}
	return list
}

// unfinished reports whether a run that has charged a stage was stopped, or is at work, before
// the stage was done: then there is noise to go on with, and no output yet.
func (p *Purse) unfinished(s *compile.Step, run string) bool {
	for _, note := range p.book.notes().Of(p.task.Recipes[s.ID]) {
		if note.Run == run && !p.book.cache().Holds(note.Address) {
			rec, err := store.ReadRecord(filepath.Join(p.book.place.Out, note.Name, note.Run))
			return err == nil && rec.Status != record.Done
		}
	}
	return false
}

// Quote returns what runs of these tasks would charge together, before one of them begins, and the refusal where
// that is over the budget of the dataset. Runs of one recipe on the same noise share its charge, unless they are fresh.
func (b *Book) Quote(ctx context.Context, tasks []*Task) (q Quote, err error) {
	s := survey{book: b, charging: map[string]*Earlier{}}
	for i, t := range tasks {
		number := i + 1
		if len(tasks) == 1 {
			number = 0
		}
		if err := s.add(ctx, number, t); err != nil {
			return q, err
		}
	}
	if err = b.Afford(s.purses...); errors.Is(err, ledger.ErrOverBudget) && len(tasks) > 1 {
		err = fmt.Errorf("the experiment's %d runs together: %w", len(tasks), err)
	}
	var adds error
	if len(s.purses) > 0 {
		q.Statement, adds = b.Statement(s.purses...)
	}
	q.Dues = s.dues
	return q, errors.Join(err, adds)
}

// survey finds out what runs on one dataset would charge, one after the other.
type survey struct {
	book     *Book
	charging map[string]*Earlier // runs before that charge a recipe on a basis, by the two
	purses   []*Purse
	dues     []Due
}

// add finds out what one more run would charge.
func (s *survey) add(ctx context.Context, number int, t *Task) (err error) {
	attempt, done := s.attempt(number, t)
	p := NewPurse(s.book, t, attempt)
	if done != nil {
		p.takeAll(done)
	} else if err = p.Search(ctx); err == nil {
		s.share(p)
	}
	s.purses, s.dues = append(s.purses, p), append(s.dues, p.dues(number)...)
	return err
}

// attempt returns the finished run that a task would be shown or, where there is none, the run that it would continue
// or begin, in the order in which a run takes them up: what that one has charged is in the ledger and is not asked for
// again. Of what cannot be read each run tells.
func (s *survey) attempt(number int, t *Task) (a Attempt, done *record.Run) {
	place := s.book.place
	base := filepath.Join(place.Out, t.Plan.Name)
	var runs []Found
	if !t.Fresh {
		runs, _ = FindRuns(base, t.Plan.Digest, t.Dataset.ID, t.Dataset.Version, place.Seen)
	}
	for _, f := range runs {
		switch t.Standing(f) {
		case Finished:
			return Attempt{ID: f.Record.ID}, f.Record
		case Unfinished:
			dir := store.RunDir{Path: f.Path}
			if key, err := t.Resume(dir, f.Record); err == nil {
				return Attempt{ID: f.Record.ID, Key: key, Dir: dir}, nil
			}
		}
	}
	a.ID = fmt.Sprintf("run-%d", number) // no run has begun; none of a folder is called so
	if t.Seed != nil {
		a.Key = InsecureKey(*t.Seed)
	}
	return a, nil
}

// takeAll says that a finished run, which is shown as it is, has or has taken the noise of each paid stage.
func (p *Purse) takeAll(done *record.Run) {
	for i := range p.task.Plan.Steps {
		if step := &p.task.Plan.Steps[i]; draws(step) {
			p.earlier[step.ID] = &Earlier{Run: cmp.Or(done.From(step.ID), done.ID)}
		}
	}
}

// share gives a run the noise of an earlier run where both have a stage of equal recipe whose inputs have the same
// noise.
func (s *survey) share(p *Purse) {
	for i := range p.task.Plan.Steps {
		step := &p.task.Plan.Steps[i]
		if !draws(step) {
			continue
		}
		name := p.noiseName(step)
		if p.chargedBy(step) == "" && !p.task.Fresh && s.charging[name] != nil {
			p.earlier[step.ID] = s.charging[name]
		}
		s.charging[name] = &Earlier{Run: cmp.Or(p.chargedBy(step), p.attempt.ID), Commitment: p.commitment(step)}
	}
}
