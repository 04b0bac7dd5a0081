package schedule

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

// planOf makes steps from "name: reads reads".
func planOf(lines ...string) *compile.Plan {
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
	plan := planOf("a: dataset", "b: a", "c: a", "d: b c")
	for range 50 {
		var mu sync.Mutex
		var order []string
		err := Steps(context.Background(), plan, 2, func(_ context.Context, s *compile.Step) error {
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
		done <- Steps(context.Background(), planOf("a: dataset", "b: dataset"), 2, func(context.Context, *compile.Step) error {
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
	err := Steps(context.Background(), planOf("a: dataset", "slow: dataset", "b: a"), 2, func(ctx context.Context, s *compile.Step) error {
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
	err := Steps(ctx, planOf("a: dataset", "b: a"), 1, func(ctx context.Context, _ *compile.Step) error {
		cancel()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, must be the cancellation", err)
	}
}
