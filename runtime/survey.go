package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"weir/pipeline/compile"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/book"
	"weir/runtime/files"
	"weir/runtime/store"
)

// survey finds out what trials on one dataset would charge, before one of them begins.
type survey struct {
	source  *opened
	files   *files.Held
	account *book.Account
	opts    Options
	blind   bool // no data is opened: rows are taken to be those of earlier runs

	payers map[string]*book.Earlier // trials before that charge a recipe on a basis, by the two
	purses []*book.Purse
	dues   []Due
}

// quote is what the trials would charge together, and the refusal where that is over the
// budget of the dataset.
func (s *survey) quote(ctx context.Context, trials []Trial) (q Quote, err error) {
	s.payers = map[string]*book.Earlier{}
	for i, t := range trials {
		if unpaid(t.Plan) {
			continue
		}
		if len(trials) > 1 {
			i++ // runs of an experiment are counted from 1
		}
		if err := s.add(ctx, i, t); err != nil {
			return q, err
		}
	}
	if err = s.account.Afford(s.purses...); errors.Is(err, ledger.ErrOverBudget) && len(trials) > 1 {
		err = fmt.Errorf("the experiment's %d runs together: %w", len(trials), err)
	}
	var adds error
	if len(s.purses) > 0 {
		q.Statement, adds = s.account.Statement(s.purses...)
	}
	q.Dues = s.dues
	return q, errors.Join(err, adds)
}

// add finds out what one more trial would charge.
func (s *survey) add(ctx context.Context, i int, t Trial) error {
	r := runOf(t.Plan, s.source, s.files, s.opts.trial(i, t))
	r.blind, r.cache = s.blind, cacheOf(s.opts)
	if r.opts.Insecure != nil {
		r.key = book.InsecureKey(*r.opts.Insecure)
	}
	if err := r.nameRecipes(ctx); err != nil {
		return err
	}
	before, done := r.begun(s.runs(t.Plan))
	r.record = &record.Run{ID: fmt.Sprintf("run-%d", i)}
	if before != nil {
		r.record.ID = before.ID
	}
	r.purse = book.NewPurse(t.Plan, s.source.Dataset, r.record.ID, r.key, nil)
	r.purse.Recipes(r.recipes, r.basis)
	r.purse.From(s.account)
	if !done { // a finished run is shown as it is
		if err := r.findEarlier(ctx); err != nil {
			return err
		}
	}
	from := s.share(r, before, done)
	r.purse.Earlier(from)
	s.purses = append(s.purses, r.purse)
	s.dues = append(s.dues, r.duesOf(i, func(step *compile.Step) string { return from[step.ID] })...)
	return nil
}

// share says whose noise each paid stage of a run has: that which the finished run that will
// be shown has paid for or taken from another, that of an earlier one, or of a trial before it
// with an equal recipe on the same noise.
func (s *survey) share(r *run, before *record.Run, done bool) map[string]string {
	from := map[string]string{}
	for i := range r.plan.Steps {
		step := &r.plan.Steps[i]
		if !draws(step) {
			continue
		}
		if done {
			from[step.ID] = cmp.Or(before.From(step.ID), before.ID)
			continue
		}
		name := r.recipes[step.ID] + r.basis(step)
		if r.payer(step) == "" && !r.opts.Fresh && s.payers[name] != nil {
			r.earlier[step.ID] = s.payers[name]
		}
		if payer := r.payer(step); payer != "" {
			from[step.ID] = payer
		}
		s.payers[name] = &book.Earlier{Run: cmp.Or(from[step.ID], r.record.ID), Commitment: r.commitment(step)}
	}
	return from
}

// runs are the earlier ones of a spec; of what cannot be read each run tells.
func (s *survey) runs(plan *compile.Plan) []store.Found {
	runs, _ := store.FindRuns(filepath.Join(s.opts.Out, plan.Name), plan.Digest, s.source.ID, s.source.Version, s.opts.seen)
	return runs
}

// begun finds the run that this one would be shown, or continue, in the order in which a run
// takes them up: what that one has charged is in the ledger and is not asked for again.
func (r *run) begun(runs []store.Found) (before *record.Run, done bool) {
	for _, f := range runs {
		rec := f.Record
		if r.opts.Fresh || !r.opts.asked(rec) || !r.blind && !(store.RunDir{Path: f.Path}).HasRead(r.content) {
			continue
		}
		switch {
		case rec.Status == record.Done && r.sameRecipes(rec):
			return rec, true
		case rec.Status != record.Done && r.opts.Build != "" && rec.Build == r.opts.Build:
			dir := store.RunDir{Path: f.Path}
			key, err := book.LoadKey(dir.Internal())
			if err == nil && key.Commitment() == rec.KeyCommitment && (r.blind || r.sameSecret(dir)) {
				r.dir.Path, r.key = f.Path, key
				return rec, false
			}
		}
	}
	return nil, false
}
