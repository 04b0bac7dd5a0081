package runtime

import (
	"context"
	"sync"

	"weir/pipeline"
	"weir/pipeline/compile"
)

// steps calls do for every step, each after those it reads, independent ones
// side by side, at most workers at a time. After the first error nothing new starts and
// what runs is cancelled; of the steps that failed by then, the error of the earliest in plan order is
// returned. Which ones had failed may depend on timing where several would.
func steps(ctx context.Context, plan *compile.Plan, workers int, do func(context.Context, *compile.Step) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := map[string]chan struct{}{pipeline.DatasetID: make(chan struct{})}
	close(done[pipeline.DatasetID])
	for i := range plan.Steps {
		done[plan.Steps[i].ID] = make(chan struct{})
	}
	slots := make(chan struct{}, workers)
	errs := make([]error, len(plan.Steps))
	var all sync.WaitGroup
	for i := range plan.Steps {
		all.Add(1)
		go func() {
			defer all.Done()
			errs[i] = runStep(ctx, &plan.Steps[i], done, slots, do)
			if errs[i] != nil {
				cancel()
				return
			}
			close(done[plan.Steps[i].ID])
		}()
	}
	all.Wait()
	return firstCause(errs)
}

func runStep(ctx context.Context, s *compile.Step, done map[string]chan struct{}, slots chan struct{},
	do func(context.Context, *compile.Step) error) error {
	for _, refs := range s.Inputs {
		for _, r := range refs {
			select {
			case <-done[r.Stage]:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return do(ctx, s)
}

// sideBySide calls do for 0 to n-1, at most workers at a time, and begins in that order. After
// the first error nothing new begins and what runs is cancelled; the error of the earliest
// is returned.
func sideBySide(ctx context.Context, n, workers int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	slots := make(chan struct{}, workers)
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		if errs[i] = ctx.Err(); errs[i] != nil {
			break
		}
		all.Go(func() {
			defer func() { <-slots }()
			if errs[i] = do(ctx, i); errs[i] != nil {
				cancel()
			}
		})
	}
	all.Wait()
	return firstCause(errs)
}

// firstCause prefers the error of a stage over the cancellation that it caused.
func firstCause(errs []error) error {
	var cancelled error
	for _, err := range errs {
		if err == nil {
			continue
		}
		if !pipeline.Cancelled(err) {
			return err
		}
		cancelled = err
	}
	return cancelled
}
