package runtime

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"weir/pipeline/compile"
	"weir/privacy/account"
	"weir/privacy/ledger"
	"weir/record"
)

// Total is what the plans of an experiment come to together, as one plan fixed
// ahead: its runs are chosen before any of them is seen.
func Total(plans []*compile.Plan) (ledger.Total, error) {
	first := plans[0]
	accountant, err := account.ByName(first.Accountant)
	if err != nil {
		return ledger.Total{}, err
	}
	var entries []ledger.Entry
	for i, p := range plans {
		for j := range p.Steps {
			for n := range p.Steps[j].Spends {
				s, spend := &p.Steps[j], p.Steps[j].Spends[n]
				entries = append(entries, ledger.Entry{ID: fmt.Sprintf("run %d/%s/%s", i+1, s.ID, spend.Name), Event: spend.Event,
					Adjacency: p.Adjacency, Unit: unitOf(p), Unproven: s.Unproven})
			}
		}
	}
	return ledger.Sum(entries, accountant, first.Adjacency, unitOf(first), first.Delta)
}

// Trial is one run of an experiment.
type Trial struct {
	Plan   *compile.Plan
	Repeat int
}

// CheckExperiment refuses an experiment whose runs would together pass the
// dataset's budget, before the first of them spends anything.
func CheckExperiment(ctx context.Context, trials []Trial, opts Options) error {
	plan := trials[0].Plan
	if plan.Dataset.Budget == nil || plan.Budget.Infinite() {
		return nil
	}
	folder, err := OpenFolder(opts.Dir, opts.Confine)
	if err != nil {
		return err
	}
	defer folder.Close()
	files := hold(folder)
	defer files.Close()
	s, err := openSource(ctx, plan, files, opts)
	if err != nil {
		return err
	}
	a, err := openAccount(plan, s, folder, opts)
	if err != nil {
		return err
	}
	bill := experimentBill(trials, s, opts)
	fixed, err := a.ledger.Fix(*a.limit, bill...)
	if err == nil {
		err = a.ledger.Check(fixed, bill...)
	}
	if errors.Is(err, ErrOverBudget) {
		return fmt.Errorf("the experiment's %d runs together: %w", len(trials), err)
	}
	return err
}

// experimentBill lists the charges of the runs that are not done yet.
func experimentBill(trials []Trial, s *source, opts Options) []ledger.Charge {
	var bill []ledger.Charge
	for i, t := range trials {
		if isDone(t, s, opts) {
			continue
		}
		r := &run{plan: t.Plan, source: s, record: &record.Run{ID: fmt.Sprintf("run-%d", i+1)}}
		for j := range t.Plan.Steps {
			step := &t.Plan.Steps[j]
			for n := range step.Spends {
				bill = append(bill, r.charge(step, &step.Spends[n], ""))
			}
		}
	}
	return bill
}

func isDone(t Trial, s *source, opts Options) bool {
	for _, f := range findRuns(filepath.Join(opts.Out, t.Plan.Name), t.Plan.Digest, s.id, s.version) {
		if f.record.Repeat == t.Repeat && f.record.Status == record.Done && !opts.Fresh {
			return true
		}
	}
	return false
}
