package main

import (
	"context"
	"errors"
	"fmt"

	"weir/internal/plaintext"
	"weir/pipeline/compile"
	"weir/privacy"
	"weir/privacy/ledger"
	"weir/runtime"
)

// printLeft ends a run by what the budget of its dataset has left, as the ledger says now.
// Where the ledger cannot be read the run, which is done, says nothing of it; noise from a
// test seed has a ledger of its own.
func (f *runFlags) printLeft(ctx context.Context, s streams, arg string, plan *compile.Plan, insecure bool) error {
	if plan.Dataset.Budget == nil || insecure {
		return nil
	}
	place := ledgerPlaceFlags{out: f.out, ledger: f.ledger}
	quotes, _ := place.foresee(ctx, s, &f.spec, arg, []runtime.Trial{{Plan: plan}})
	for _, q := range quotes {
		if q.Cap == nil {
			continue
		}
		line := fmt.Sprintf("epsilon %.6g; %s remains%s", *q.Cap, privacy.Room(max(0, *q.Cap-q.Spent.Epsilon)), roomWords(q))
		if _, err := fmt.Fprintf(s.out, "%-16s %s\n", "budget", line); err != nil {
			return err
		}
	}
	return nil
}

// printAsked says on stderr what a run that the budget refused would have charged, and which edit makes it a new charge.
func (f *runFlags) printAsked(ctx context.Context, s streams, arg string, plan *compile.Plan, refusal error) {
	if !errors.Is(refusal, ledger.ErrOverBudget) {
		return
	}
	place := ledgerPlaceFlags{out: f.out, ledger: f.ledger, fresh: f.fresh}
	quotes, _ := place.foresee(ctx, s, &f.spec, arg, []runtime.Trial{{Plan: plan}})
	why := f.because(quotes)
	for _, q := range quotes {
		fmt.Fprint(s.err, plaintext.Text("This run would charge\n"+dueText(q.Dues, why)))
	}
}
