package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"weir/runtime"
)

// failure says what is left of runs that did not end well; results may be nil.
func (f *runFlags) failure(ctx context.Context, err error, results ...*runtime.Result) error {
	if errors.Is(err, errDeclined) {
		return err
	}
	err = f.lock.also(err)
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return withCode(exitInterrupted, fmt.Errorf("interrupted%s; run the same command again to continue", stops(results)))
	}
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w; make room and run the same command again: it continues, and what is paid is not charged again", err)
	}
	err = overBudget(err)
	if paid := strings.Join(paidFor(results), " and "); paid != "" {
		return fmt.Errorf("%w\nThe charge of %s stands. It is not made again where %[2]s and what lies before stay as they are: correct the rest of the spec and run it again, without --fresh; what %[2]s made is used again for nothing", err, paid)
	}
	return err
}

// paidFor are the stages that runs have charged: public facts of their ledgers.
func paidFor(results []*runtime.Result) (stages []string) {
	for _, r := range results {
		if r == nil || r.Record == nil || r.Reused {
			continue
		}
		for _, c := range r.Record.Charges {
			if c.Run == "" && !slices.Contains(stages, c.Stage) {
				stages = append(stages, c.Stage)
			}
		}
	}
	return stages
}

// stops says where stages stood, and what the same command does with them.
func stops(results []*runtime.Result) string {
	var b strings.Builder
	for _, r := range results {
		if r == nil {
			continue
		}
		for _, s := range r.Stops {
			then := "before its first checkpoint: it will begin anew, with the same noise"
			if s.Checkpoint {
				then = "with a checkpoint to go on from"
			}
			fmt.Fprintf(&b, ", %s at %d of %d (%s)", s.Stage, s.Done, s.Total, then)
		}
	}
	return b.String()
}
