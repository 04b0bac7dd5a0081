package account

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"weir/privacy"
)

// counting is an accountant that says how often it was asked.
type counting struct {
	RDP
	asked *atomic.Int64
}

func (c counting) Epsilon(events []privacy.Event, adjacency privacy.Adjacency, delta float64) (float64, error) {
	c.asked.Add(1)
	return c.RDP.Epsilon(events, adjacency, delta)
}

// questions returns events of which no two are equal, at noise that differs in its last bit too.
func questions() (list [][]privacy.Event) {
	for _, s := range []float64{1, math.Nextafter(1, 2), 2} {
		g := privacy.Gaussian{NoiseMultiplier: s}
		sampled := privacy.PoissonSampled{SamplingRate: 0.1, Event: g}
		list = append(list, []privacy.Event{g}, []privacy.Event{g, g}, []privacy.Event{sampled},
			[]privacy.Event{privacy.Repeated{Count: 2, Event: g}},
			[]privacy.Event{privacy.Composed{Events: []privacy.Event{g, sampled}}},
			[]privacy.Event{privacy.Parallel{Events: []privacy.Event{g, sampled}}})
	}
	return list
}

// TestMemoryAsksOnce: an accountant with a memory gives the very numbers of the accountant, which is asked once for
// each question, whoever asks.
func TestMemoryAsksOnce(t *testing.T) {
	acc, m := counting{asked: &atomic.Int64{}}, &Memory{}
	var wait sync.WaitGroup
	for range 4 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			remembering := m.Remembering(acc)
			for _, events := range questions() {
				for _, delta := range []float64{1e-5, 1e-6} {
					for _, adjacency := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
						want, werr := RDP{}.Epsilon(events, adjacency, delta)
						got, err := remembering.Epsilon(events, adjacency, delta)
						if got != want || fmt.Sprint(err) != fmt.Sprint(werr) {
							t.Errorf("%v %s %v: %v, %v, must be %v, %v", events, adjacency, delta, got, err, want, werr)
						}
					}
				}
			}
		}()
	}
	wait.Wait()
	if got, want := acc.asked.Load(), int64(4*len(questions())); got != want {
		t.Errorf("the accountant was asked %d times, must be %d", got, want)
	}
}

// TestMemoryTellsAccountantsApart: one memory serves several accountants.
func TestMemoryTellsAccountantsApart(t *testing.T) {
	m, events := &Memory{}, []privacy.Event{privacy.Gaussian{NoiseMultiplier: 2}}
	acc := m.Remembering(RDP{})
	for _, other := range []privacy.Accountant{RDP{Conversion: Classic}, RDP{Orders: []float64{2}}, ZCDP{}, RDP{}} {
		want, _ := other.Epsilon(events, privacy.AddRemove, 1e-5)
		if got, err := Beside(acc, other).Epsilon(events, privacy.AddRemove, 1e-5); err != nil || got != want {
			t.Errorf("%#v: %v, %v, must be %v", other, got, err, want)
		}
	}
	if got := m.Questions(); got != 4 {
		t.Errorf("the memory has %d questions, must have one of each accountant", got)
	}
	if _, remembers := Beside(RDP{}, ZCDP{}).(*remembering); remembers {
		t.Error("an accountant without a memory gives others one")
	}
}

// broken is an accountant that panics.
type broken struct{ RDP }

func (broken) Epsilon([]privacy.Event, privacy.Adjacency, float64) (float64, error) {
	panic("no answer")
}

// TestMemoryKeepsNoAnswerOfAPanic: a question whose computation panicked is never answered by an epsilon of 0.
func TestMemoryKeepsNoAnswerOfAPanic(t *testing.T) {
	acc := (&Memory{}).Remembering(broken{})
	for i := range 2 {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("question %d was answered", i+1)
				}
			}()
			_, _ = acc.Epsilon([]privacy.Event{privacy.Pure{Epsilon: 1}}, privacy.AddRemove, 1e-5)
		}()
	}
}
