package words

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/calibrate"
)

// Quantity is what a Calculation computes.
type Quantity int

// What can be asked of events.
const (
	AskEpsilon   Quantity = iota // epsilon at Delta
	AskExplained                 // the same, with the bound of each event and why it is taken
	AskDelta                     // delta at Epsilon
	AskNoise                     // the least noise multiplier for Epsilon and Delta
	AskSteps                     // how often the events may be repeated for Epsilon and Delta
	AskCurve                     // epsilon at deltas from 0.1 to 1e-12
)

// Calculation is a question about what events spend.
type Calculation struct {
	Events         []privacy.Event
	Accountant     privacy.Accountant
	Adjacency      privacy.Adjacency
	Epsilon, Delta float64
	Ask            Quantity
}

// Calculated is the answer to a Calculation.
type Calculated struct {
	Values map[string]any // for JSON, in which an infinite number is "inf"
	Text   string
}

// ErrNoNoise is returned where there is no noise to be scaled.
var ErrNoNoise = errors.New("must be above 0: the search scales it")

// Answer computes and words what is asked. It passes on what the accountant refuses (privacy.ErrUnsupported) and a
// budget out of reach (calibrate.InfeasibleError).
func (q Calculation) Answer() (Calculated, error) {
	out := map[string]any{"accountant": q.Accountant.Name(), "adjacency": q.Adjacency}
	var text string
	var err error
	switch q.Ask {
	case AskNoise:
		text, err = q.noise(out)
	case AskSteps:
		text, err = q.repeats(out)
	case AskCurve:
		text, err = q.points(out)
	case AskDelta:
		text, err = q.deltaAt(out)
	default:
		text, err = q.epsilonAt(out)
	}
	if err != nil {
		return Calculated{}, err
	}
	return Calculated{out, fmt.Sprintf("%s, %s, accountant %s\n%s", strings.TrimSuffix(text, "\n"), q.Adjacency,
		q.Accountant.Name(), explanationText(out))}, nil
}

// finite returns x, or "inf", which JSON has no number for.
func finite(x float64) any {
	if math.IsInf(x, 1) {
		return "inf"
	}
	return x
}

func (q Calculation) target() calibrate.Target {
	return calibrate.Target{Epsilon: q.Epsilon, Delta: q.Delta, Adjacency: q.Adjacency}
}

// epsilonAt returns epsilon at the delta.
func (q Calculation) epsilonAt(out map[string]any) (string, error) {
	if q.Ask == AskExplained {
		x, err := account.Explain(q.Accountant, q.Events, q.Adjacency, q.Delta)
		out["epsilon"], out["delta"], out["explanation"] = finite(x.Epsilon), q.Delta, x
		return fmt.Sprintf("epsilon %s at delta %g", privacy.BoundTo(9, x.Epsilon), q.Delta), err
	}
	eps, err := q.Accountant.Epsilon(q.Events, q.Adjacency, q.Delta)
	out["epsilon"], out["delta"] = finite(eps), q.Delta
	return fmt.Sprintf("epsilon %s at delta %g", privacy.BoundTo(9, eps), q.Delta), err
}

// deltaAt returns delta at the epsilon.
func (q Calculation) deltaAt(out map[string]any) (string, error) {
	delta, err := q.Accountant.Delta(q.Events, q.Adjacency, q.Epsilon)
	out["epsilon"], out["delta"] = finite(q.Epsilon), delta
	return fmt.Sprintf("delta %s at epsilon %g", privacy.BoundTo(9, delta), q.Epsilon), err
}

// noise returns the least noise: the multiplier where all are one, and in any case
// the factor and the events that result.
func (q Calculation) noise(out map[string]any) (string, error) {
	all := privacy.NoiseMultipliers(privacy.Composed{Events: q.Events})
	base, same, err := commonNoise(all)
	if err != nil {
		return "", err
	}
	scaled := func(m float64) []privacy.Event {
		return privacy.ScaleNoise(privacy.Composed{Events: q.Events}, m/base).(privacy.Composed).Events
	}
	m, err := calibrate.Noise(q.Accountant, q.target(), scaled)
	if err != nil {
		return "", err
	}
	eps, err := q.Accountant.Epsilon(scaled(m), q.Adjacency, q.Delta)
	out["epsilon"], out["delta"], out["target_epsilon"], out["factor"] = finite(eps), q.Delta, q.Epsilon, m/base
	out["events"] = inJSON(scaled(m))
	if same {
		out["noise_multiplier"] = m
		return fmt.Sprintf("noise multiplier %s for epsilon %s at delta %g", privacy.BoundTo(9, m), privacy.BoundTo(9, eps),
			q.Delta), err
	}
	return fmt.Sprintf("noise multipliers %v, %.9g times those given, for epsilon %s at delta %g",
		privacy.NoiseMultipliers(privacy.Composed{Events: scaled(m)}), m/base, privacy.BoundTo(9, eps), q.Delta), err
}

// commonNoise returns the noise multiplier that the search varies.
func commonNoise(all []float64) (base float64, same bool, err error) {
	if len(all) == 0 {
		return 0, false, fmt.Errorf("no event has a noise multiplier, which %w", ErrNoNoise)
	}
	same = true
	for _, m := range all {
		if m == 0 {
			return 0, false, fmt.Errorf("a noise multiplier is 0, %w", ErrNoNoise)
		}
		same = same && m == all[0]
	}
	return all[0], same, nil
}

func inJSON(events []privacy.Event) []privacy.JSON {
	out := make([]privacy.JSON, len(events))
	for i, e := range events {
		out[i] = privacy.JSON{Event: e}
	}
	return out
}

// repeats returns how often the events may be repeated.
func (q Calculation) repeats(out map[string]any) (string, error) {
	event := q.Events[0]
	if len(q.Events) > 1 {
		event = privacy.Composed{Events: q.Events}
	}
	n, err := calibrate.Steps(q.Accountant, q.target(), event)
	out["steps"], out["epsilon"], out["delta"] = n, finite(q.Epsilon), q.Delta
	return fmt.Sprintf("%d steps within epsilon %g at delta %g", n, q.Epsilon, q.Delta), err
}

// points returns epsilon at deltas from 0.1 to 1e-12.
func (q Calculation) points(out map[string]any) (string, error) {
	type point struct {
		Delta   float64 `json:"delta"`
		Epsilon any     `json:"epsilon"`
	}
	var points []point
	var text strings.Builder
	for k := 1; k <= 12; k++ {
		delta := math.Pow10(-k)
		eps, err := q.Accountant.Epsilon(q.Events, q.Adjacency, delta)
		if err != nil {
			return "", err
		}
		points = append(points, point{delta, finite(eps)})
		fmt.Fprintf(&text, "delta %-6g epsilon %s\n", delta, privacy.Bound(eps))
	}
	out["curve"] = points
	return text.String(), nil
}

// explanationText returns the explanation in out, one line a bound and a reason.
func explanationText(out map[string]any) string {
	x, ok := out["explanation"].(account.Explanation)
	if !ok {
		return ""
	}
	var b strings.Builder
	for _, bound := range x.Bounds {
		fmt.Fprintf(&b, "  %s, %g times: %s\n", bound.Path, bound.Count, bound.Rule)
	}
	for _, why := range x.Why {
		fmt.Fprintf(&b, "  %s\n", why)
	}
	return b.String()
}
