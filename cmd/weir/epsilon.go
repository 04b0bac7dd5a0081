package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"weir/internal/disk"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/calibrate"
	"weir/record"
	"weir/schema"
)

const epsilonLong = `Compute epsilon of events, or the noise or the steps that a budget allows.

With --delta alone: epsilon. With --epsilon alone: delta. With both and --calibrate:
the smallest noise multiplier; every noise multiplier of the events is scaled by
one factor, so their values only set their ratios. With both and
--steps: how often the events may be repeated. With --curve: epsilon over a
range of deltas.

An event is JSON or @file, such as
  {"repeated":{"count":10000,"event":{"poisson_sampled":{"sampling_rate":0.002,"event":{"gaussian":{"noise_multiplier":1.1}}}}}}
A noise multiplier is noise over the bound on one clipped contribution; under
replace_one the accountant applies the factor two of an exchange.

Exit codes: 0 done; 2 bad usage; 3 no proven bound, or the budget is out of reach.`

// epsilonFlags are the flags of `weir epsilon`.
type epsilonFlags struct {
	events                             []string
	delta, epsilon                     float64
	adjacency, accountant              string
	calibrate, steps, curve, explained bool
	asJSON                             bool
}

// epsilonQuery is what the flags ask for, checked.
type epsilonQuery struct {
	epsilonFlags
	hasDelta, hasEpsilon bool
	list                 []privacy.Event
	acc                  privacy.Accountant
	adj                  privacy.Adjacency
}

func epsilonCommand(s streams) *cobra.Command {
	var f epsilonFlags
	c := &cobra.Command{
		Use:   "epsilon",
		Short: "Privacy calculator: account for events, calibrate noise",
		Long:  epsilonLong,
		Example: `  weir epsilon --event '{"gaussian":{"noise_multiplier":2}}' --delta 1e-5
  weir epsilon --event @sgd.json --epsilon 1 --delta 1e-5 --calibrate --json
  weir epsilon --event @sgd.json --delta 1e-5 --accountant rdp --explain`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			q, err := f.query(c)
			if err != nil {
				return usage(c, err)
			}
			return epsilonError(c, q.answer(s.out))
		},
	}
	c.Flags().StringArrayVar(&f.events, "event", nil, "event as JSON or @file; repeat to compose")
	c.Flags().Float64Var(&f.delta, "delta", 0, "delta of the guarantee")
	c.Flags().Float64Var(&f.epsilon, "epsilon", 0, "epsilon: the target of --calibrate and --steps, else the point at "+
		"which delta is computed")
	c.Flags().StringVar(&f.adjacency, "adjacency", string(privacy.AddRemove), "add_remove or replace_one")
	c.Flags().StringVar(&f.accountant, "accountant", account.Default, strings.Join(account.Names(), ", "))
	c.Flags().BoolVar(&f.calibrate, "calibrate", false, "find the smallest noise for --epsilon and --delta")
	c.Flags().BoolVar(&f.steps, "steps", false, "find the largest number of repeats for --epsilon and --delta")
	c.Flags().BoolVar(&f.curve, "curve", false, "epsilon at deltas from 0.1 to 1e-12")
	c.Flags().BoolVar(&f.explained, "explain", false, "say which bound was used and why")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object")
	return c
}

// query checks the flags, all problems at once.
func (f epsilonFlags) query(c *cobra.Command) (epsilonQuery, error) {
	q := epsilonQuery{epsilonFlags: f, hasDelta: c.Flags().Changed("delta"), hasEpsilon: c.Flags().Changed("epsilon")}
	var problems []error
	check := func(err error) {
		if err != nil {
			problems = append(problems, err)
		}
	}
	var err error
	q.adj, err = privacy.ParseAdjacency(f.adjacency)
	check(prefixed("--", err))
	q.acc, err = account.ByName(f.accountant)
	check(prefixed("--", err))
	q.list, err = readEvents(f.events)
	check(err)
	check(q.ranges())
	check(q.combination())
	return q, errors.Join(problems...)
}

func prefixed(prefix string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s%w", prefix, err)
}

func (q epsilonQuery) ranges() error {
	var problems []error
	if q.hasDelta && !(q.delta >= 0 && q.delta <= 1) {
		problems = append(problems, fmt.Errorf("--delta: is %v, must be in [0, 1]", q.delta))
	}
	if q.hasEpsilon && !(q.epsilon >= 0) {
		problems = append(problems, fmt.Errorf("--epsilon: is %v, must be at least 0", q.epsilon))
	}
	return errors.Join(problems...)
}

// combination says which flags do not go together.
func (q epsilonQuery) combination() error {
	modes := 0
	for _, on := range []bool{q.calibrate, q.steps, q.curve} {
		if on {
			modes++
		}
	}
	switch {
	case modes > 1:
		return errors.New("--calibrate, --steps, --curve: only one of them may be given")
	case (q.calibrate || q.steps) && !(q.hasDelta && q.hasEpsilon):
		return errors.New("--calibrate and --steps: need --epsilon and --delta")
	case q.curve && (q.hasDelta || q.hasEpsilon):
		return errors.New("--curve: must be given without --epsilon and --delta")
	case modes == 0 && q.hasDelta == q.hasEpsilon:
		return errors.New("--delta or --epsilon: give one to compute the other, or both with --calibrate or --steps")
	case q.explained && (modes > 0 || !q.hasDelta):
		return errors.New("--explain: must be given with --delta alone")
	}
	return nil
}

// readEvents parses every --event, with its number in the errors.
func readEvents(args []string) ([]privacy.Event, error) {
	if len(args) == 0 {
		return nil, errors.New("--event: is missing")
	}
	var events []privacy.Event
	var problems []error
	for i, a := range args {
		b := []byte(a)
		var err error
		if path, isFile := strings.CutPrefix(a, "@"); isFile {
			b, err = disk.ReadFile(path, schema.MaxBytes)
		}
		var e privacy.Event
		if err == nil {
			e, err = privacy.ParseEvent(b)
			err = unquoted(a, err)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("--event %d: %w", i+1, err))
			continue
		}
		events = append(events, e)
	}
	return events, errors.Join(problems...)
}

// unquoted hides what is wrong within a file: what was named by mistake holds cells.
func unquoted(arg string, err error) error {
	if err == nil || !strings.HasPrefix(arg, "@") {
		return err
	}
	return fmt.Errorf(
		"%s is no event, must be JSON as --event takes it; give the JSON itself to see what is wrong with it", arg[1:])
}

// epsilonError gives refusals of privacy their exit code; what is left after the
// flags were checked is about the numbers in them.
func epsilonError(c *cobra.Command, err error) error {
	var infeasible *calibrate.InfeasibleError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, privacy.ErrUnsupported), errors.As(err, &infeasible):
		return withCode(exitPrivacy, err)
	}
	return usage(c, err)
}

// answer computes and prints.
func (q epsilonQuery) answer(w io.Writer) error {
	out := map[string]any{"accountant": q.acc.Name(), "adjacency": q.adj}
	var text string
	var err error
	switch {
	case q.calibrate:
		text, err = q.noise(out)
	case q.steps:
		text, err = q.repeats(out)
	case q.curve:
		text, err = q.points(out)
	case q.hasEpsilon:
		text, err = q.deltaAt(out)
	default:
		text, err = q.epsilonAt(out)
	}
	if err != nil {
		return err
	}
	if q.asJSON {
		return printJSON(w, out)
	}
	_, err = fmt.Fprintf(w, "%s, %s, accountant %s\n%s", strings.TrimSuffix(text, "\n"), q.adj, q.acc.Name(),
		explanationText(out))
	return err
}

// finite returns x, or "inf", which JSON has no number for.
func finite(x float64) any {
	if math.IsInf(x, 1) {
		return "inf"
	}
	return x
}

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
		return fmt.Sprintf("noise multiplier %s for epsilon %s at delta %g", privacy.BoundTo(9, m), privacy.BoundTo(9, eps),
			q.delta), err
	}
	return fmt.Sprintf("noise multipliers %v, %.9g times those given, for epsilon %s at delta %g",
		privacy.NoiseMultipliers(privacy.Composed{Events: scaled(m)}), m/base, privacy.BoundTo(9, eps), q.delta), err
}

// commonNoise returns the noise multiplier that the search varies.
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
