package train

import (
	"context"
	"errors"
	"fmt"

	"weir/privacy"
)

// FitConfig is how Fit uses the noisy sums. Average, from 0 to below 1, is the
// decay of a running mean of the iterates that Fit returns instead of the last
// one; 0 is the last one. Averaging is post-processing and costs nothing. Worst are
// the rows that each batch leaves out.
type FitConfig struct {
	Optimiser Optimiser `json:"optimiser"`
	Average   float64   `json:"average"`
	Worst     *Worst    `json:"-"`
}

// Validate names every field that is out of range.
func (c FitConfig) Validate() error {
	err := c.Optimiser.Validate()
	if !(c.Average >= 0 && c.Average < 1) {
		err = errors.Join(err, fmt.Errorf("average: is %g, must be at least 0 and below 1", c.Average))
	}
	return err
}

// Fit runs the steps of a paid DPSGD on n rows from the weights start and returns
// the weights they end in; see DPSGD for the mechanism and its guarantee, which
// holds for every iterate together. start must not depend on the rows.
func Fit(ctx context.Context, c FitConfig, o Objective, start []float32, n int, paid *privacy.Handle, h Hooks) ([]float32, error) {
	s, err := newStepper(paid, o, start, n)
	if err == nil {
		err = errors.Join(c.Validate(), s.leaveOut(c.Worst, n))
	}
	if err != nil {
		return nil, fmt.Errorf("fit: %w", err)
	}
	d := newDescent(c.Optimiser, append([]float32(nil), start...))
	mean := newRunningMean(c.Average, start)
	st := &state{}
	st.add(d)
	st.addOrder(s.batches)
	st.addAverage(mean)
	if err := st.resume(h, paid, &d.t); err != nil {
		return nil, fmt.Errorf("fit: %w", err)
	}
	h.resumed(Progress{Phase: "fit", Step: d.t, Steps: s.c.Steps})
	defer s.drawAhead(d.t)()
	for d.t < s.c.Steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		report := h.reports(d.t+1, s.c.Steps)
		if err := s.noisySum(d.w, d.t, report); err != nil {
			return nil, err
		}
		d.step(s.sum, 1/s.divisor())
		mean.update(d.w)
		if report {
			h.Progress(Progress{Phase: "fit", Step: d.t, Steps: s.c.Steps, Loss: s.meanLoss()})
		}
		if err := h.save(d.t, st); err != nil {
			return nil, err
		}
	}
	return mean.of(d), nil
}
