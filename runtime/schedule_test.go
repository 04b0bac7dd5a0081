package runtime

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"weir/pipeline"
	"weir/pipeline/compile"
)

// planOfSteps makes steps from "name: reads reads".
func planOfSteps(lines ...string) *compile.Plan {
	p := &compile.Plan{}
	for _, line := range lines {
		name, reads, _ := strings.Cut(line, ": ")
		s := compile.Step{Step: &pipeline.Step{ID: name, Inputs: map[string][]pipeline.Ref{}}}
		for _, r := range strings.Fields(reads) {
			s.Inputs["in"] = append(s.Inputs["in"], pipeline.Ref{Stage: r})
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

func TestScheduleKeepsTheOrder(t *testing.T) {
	plan := planOfSteps("a: dataset", "b: a", "c: a", "d: b c")
	for range 50 {
		var mu sync.Mutex
		var order []string
		err := steps(context.Background(), plan, 2, func(_ context.Context, s *compile.Step) error {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, s.ID)
			return nil
		})
		if text := strings.Join(order, ""); err != nil || text != "abcd" && text != "acbd" {
			t.Fatalf("order %s, %v", text, err)
		}
	}
}

// TestScheduleSideBySide: two independent steps meet each other; a scheduler
// that ran one after the other would wait for ever.
func TestScheduleSideBySide(t *testing.T) {
	var meet sync.WaitGroup
	meet.Add(2)
	done := make(chan error, 1)
	go func() {
		done <- steps(context.Background(), planOfSteps("a: dataset", "b: dataset"), 2,
			func(context.Context, *compile.Step) error {
				meet.Done()
				meet.Wait()
				return nil
			})
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("independent steps do not run side by side")
	}
}

// TestScheduleStopsAfterAnError: steps that read a failed one do not run, and
// the error is its own, not the cancellation of others.
func TestScheduleStopsAfterAnError(t *testing.T) {
	wrong := errors.New("wrong")
	err := steps(context.Background(), planOfSteps("a: dataset", "slow: dataset", "b: a"), 2, func(ctx context.Context,
		s *compile.Step) error {
		switch s.ID {
		case "a":
			return wrong
		case "b":
			t.Error("b reads a, which failed")
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, wrong) {
		t.Errorf("%v, must be the error of a", err)
	}
}

func TestScheduleHearsCancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	err := steps(ctx, planOfSteps("a: dataset", "b: a"), 1, func(ctx context.Context, _ *compile.Step) error {
		cancel()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, must be the cancellation", err)
	}
}

// TestEachBeginsInOrder, runs no more than it may, and names the earliest error.
func TestEachBeginsInOrder(t *testing.T) {
	var mu sync.Mutex
	var began []int
	current, most := 0, 0
	err := sideBySide(context.Background(), 20, 3, func(_ context.Context, i int) error {
		mu.Lock()
		began, current = append(began, i), current+1
		most = max(most, current)
		mu.Unlock()
		time.Sleep(time.Millisecond)
		mu.Lock()
		current--
		mu.Unlock()
		return nil
	})
	if err != nil || most != 3 || len(began) != 20 || began[0] > 2 {
		t.Errorf("%v, %d at a time, began %v", err, most, began)
	}
	var ran int
	err = sideBySide(context.Background(), 9, 1, func(_ context.Context, i int) error {
		if ran++; i == 2 {
			return errors.New("third")
		}
		return nil
	})
	if err == nil || err.Error() != "third" || ran != 3 {
		t.Errorf("%v after %d, must end with the third", err, ran)
	}
	err = sideBySide(context.Background(), 2, 2, func(ctx context.Context, i int) error {
		if i == 0 {
			<-ctx.Done()
			return ctx.Err()
		}
		return errors.New("second")
	})
	if err == nil || err.Error() != "second" {
		t.Errorf("%v, must be the cause and not the cancellation that it caused", err)
	}
}
