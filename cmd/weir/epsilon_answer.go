package main

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/calibrate"
	"weir/record"
)

func (q epsilonQuery) target() calibrate.Target {
	return calibrate.Target{Epsilon: q.epsilon, Delta: q.delta, Adjacency: q.adj}
}

// epsilonAt answers --delta.
func (q epsilonQuery) epsilonAt(out map[string]any) (string, error) {
	if q.explained {
		x, err := account.Explain(q.acc, q.list, q.adj, q.delta)
		out["epsilon"], out["delta"], out["explanation"] = finite(x.Epsilon), q.delta, x
		return fmt.Sprintf("epsilon %s at delta %g", privacy.BoundTo(9, x.Epsilon), q.delta), err
	}
	eps, err := q.acc.Epsilon(q.list, q.adj, q.delta)
	out["epsilon"], out["delta"] = finite(eps), q.delta
	return fmt.Sprintf("epsilon %s at delta %g", privacy.BoundTo(9, eps), q.delta), err
}

// deltaAt answers --epsilon.
func (q epsilonQuery) deltaAt(out map[string]any) (string, error) {
	delta, err := q.acc.Delta(q.list, q.adj, q.epsilon)
	out["epsilon"], out["delta"] = finite(q.epsilon), delta
	return fmt.Sprintf("delta %s at epsilon %g", privacy.BoundTo(9, delta), q.epsilon), err
}

// noise answers --calibrate: the multiplier where all are one, and in any case
// the factor and the events that result.
func (q epsilonQuery) noise(out map[string]any) (string, error) {
	all := privacy.NoiseMultipliers(privacy.Composed{Events: q.list})
	base, same, err := commonNoise(all)
	if err != nil {
		return "", err
	}
	scaled := func(m float64) []privacy.Event {
		return privacy.ScaleNoise(privacy.Composed{Events: q.list}, m/base).(privacy.Composed).Events
	}
	m, err := calibrate.Noise(q.acc, q.target(), scaled)
	if err != nil {
		return "", err
	}
	eps, err := q.acc.Epsilon(scaled(m), q.adj, q.delta)
	out["epsilon"], out["delta"], out["target_epsilon"], out["factor"] = finite(eps), q.delta, q.epsilon, m/base
	out["events"] = inJSON(scaled(m))
	if same {
		out["noise_multiplier"] = m
		return fmt.Sprintf("noise multiplier %s for epsilon %s at delta %g", privacy.BoundTo(9, m), privacy.BoundTo(9, eps), q.delta), err
	}
	return fmt.Sprintf("noise multipliers %v, %.9g times those given, for epsilon %s at delta %g",
		privacy.NoiseMultipliers(privacy.Composed{Events: scaled(m)}), m/base, privacy.BoundTo(9, eps), q.delta), err
}

// commonNoise is the noise multiplier that the search varies.
func commonNoise(all []float64) (base float64, same bool, err error) {
	if len(all) == 0 {
		return 0, false, errors.New("--calibrate: no event has a noise multiplier")
	}
	same = true
	for _, m := range all {
		if m == 0 {
			return 0, false, errors.New("--calibrate: a noise multiplier is 0, must be above 0: the search scales it")
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

// repeats answers --steps.
func (q epsilonQuery) repeats(out map[string]any) (string, error) {
	event := q.list[0]
	if len(q.list) > 1 {
		event = privacy.Composed{Events: q.list}
	}
	n, err := calibrate.Steps(q.acc, q.target(), event)
	out["steps"], out["epsilon"], out["delta"] = n, finite(q.epsilon), q.delta
	return fmt.Sprintf("%d steps within epsilon %g at delta %g", n, q.epsilon, q.delta), err
}

// points answers --curve.
func (q epsilonQuery) points(out map[string]any) (string, error) {
	type point struct {
		Delta   float64 `json:"delta"`
		Epsilon any     `json:"epsilon"`
	}
	var points []point
	var text strings.Builder
	for k := 1; k <= 12; k++ {
		delta := math.Pow10(-k)
		eps, err := q.acc.Epsilon(q.list, q.adj, delta)
		if err != nil {
			return "", err
		}
		points = append(points, point{delta, finite(eps)})
		fmt.Fprintf(&text, "delta %-6g epsilon %s\n", delta, record.Bound(eps))
	}
	out["curve"] = points
	return text.String(), nil
}

// explanationText is the explanation in out, one line a bound and a reason.
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
