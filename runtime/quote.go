package runtime

import (
	"path/filepath"

	"weir/pipeline/compile"
	"weir/record"
	"weir/runtime/book"
	"weir/runtime/store"
)

// Quote is what one run, or the runs of an experiment together, are about to charge to the
// ledger of a dataset.
type Quote struct {
	book.Statement
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

// quote is what the run is about to charge.
func (r *run) quote() (Quote, error) {
	q := Quote{Dues: r.duesOf(0, r.payer)}
	var err error
	q.Statement, err = r.purse.Statement()
	return q, err
}

// payer is the run that has charged a stage: the one whose noise it takes or, before it was
// interrupted, this one. "" is nobody.
func (r *run) payer(s *compile.Step) string {
	switch {
	case r.earlier[s.ID] != nil:
		return r.earlier[s.ID].Run
	case !r.plan.Budget.Infinite() && r.purse.Charged(r.record.ID, s):
		return r.record.ID
	}
	return ""
}

// duesOf lists the paid stages of a plan.
func (r *run) duesOf(run int, payer func(*compile.Step) string) (list []Due) {
	for i := range r.plan.Steps {
		if s := &r.plan.Steps[i]; draws(s) {
			d := Due{Run: run, Stage: s.ID, Epsilon: s.Alone, Charges: len(s.Spends), Published: s.Published, From: payer(s)}
			d.Unfinished = r.unfinished(s, d.From)
			list = append(list, d)
		}
	}
	return list
}

// unfinished tells whether a run that has charged a stage was stopped, or is at work, before
// the stage was done: then there is noise to go on with, and no output yet.
func (r *run) unfinished(s *compile.Step, payer string) bool {
	for _, p := range r.cache.Paid(r.recipes[s.ID]) {
		if p.Run == payer && !r.cache.Holds(p.Address) {
			rec, err := store.ReadRecord(filepath.Join(r.opts.Out, p.Name, p.Run))
			return err == nil && rec.Status != record.Done
		}
	}
	return false
}

// asks reports whether somebody is asked before a run of a plan charges: invented rows are nobody's.
func (o Options) asks(plan *compile.Plan) bool {
	return o.Confirm != nil && plan.Spec.Dataset.Declared.Invented == ""
}

// confirm asks whether to charge, where somebody is to be asked and anything is charged.
func (r *run) confirm() error {
	if !r.opts.asks(r.plan) || unpaid(r.plan) || r.opts.Replay != nil {
		return nil
	}
	q, err := r.quote()
	if err != nil || !q.Charges() {
		return err
	}
	return r.opts.Confirm([]Quote{q})
}
