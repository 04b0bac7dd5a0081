package runtime

import (
	"fmt"

	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/noise"
)

// spender sells one step the noise of the event that the plan printed.
type spender struct {
	run  *run
	step *pipeline.Step
	next int // charges bought so far; a stage buys them one after the other
}

// Spend records the charge, synced, and returns the randomness that it bought.
// An event other than the planned one is refused: run does what plan printed.
// Without privacy (epsilon: inf) there is nothing to pay and nothing released.
func (s *spender) Spend(e privacy.Event) (*noise.Source, error) {
	// The name of the noise has no run in it: the key is the run's own, and with
	// the same key another run must draw the same noise.
	name := fmt.Sprintf("%s/%d", s.step.ID, s.next)
	if s.run.plan.Budget.Infinite() {
		s.next++
		return noise.NewSource(s.run.key, name), nil
	}
	if s.next >= len(s.step.Events) {
		return nil, fmt.Errorf("the stage spends a charge that its plan does not have (W14)")
	}
	if err := samePlanned(e, s.step.Events[s.next].Event); err != nil {
		return nil, err
	}
	if err := s.run.pay(s.step, s.run.chargeID(s.step, s.next), e); err != nil {
		return nil, err
	}
	s.next++
	return noise.NewSource(s.run.key, name), nil
}

func samePlanned(got, planned privacy.Event) error {
	a, err := privacy.MarshalEvent(got)
	if err != nil {
		return err
	}
	b, err := privacy.MarshalEvent(planned)
	if err != nil {
		return err
	}
	if string(a) != string(b) {
		return fmt.Errorf("the stage spends %s, must spend the planned %s (W14)", a, b)
	}
	return nil
}
