package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"weir/internal/disk"
	"weir/pipeline/words"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/calibrate"
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
	words.Calculation
	hasDelta, hasEpsilon bool
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
			return epsilonError(c, q.print(s.out))
		},
	}
	c.Flags().StringArrayVar(&f.events, "event", nil, "event as JSON or @file; repeat to compose")
	c.Flags().Float64Var(&f.delta, "delta", 0, "delta of the guarantee")
	c.Flags().Float64Var(&f.epsilon, "epsilon", 0, "epsilon: the target of --calibrate and --steps, else the point at "+
		"which delta is computed")
	c.Flags().StringVar(&f.adjacency, "adjacency", string(privacy.AddRemove), "add_remove or replace_one")
	c.Flags().StringVar(&f.accountant, "accountant", account.Default, strings.Join(account.Names(), ", "))
	completeFlag(c, "adjacency", oneOf(adjacencies()...))
	completeFlag(c, "accountant", oneOf(account.Names()...))
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
	q.Adjacency, err = privacy.ParseAdjacency(f.adjacency)
	check(prefixed("--", err))
	q.Accountant, err = account.ByName(f.accountant)
	check(prefixed("--", err))
	q.Events, err = readEvents(f.events)
	check(err)
	check(q.ranges())
	check(q.combination())
	q.Calculation.Epsilon, q.Calculation.Delta, q.Ask = f.epsilon, f.delta, q.quantity()
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
		"%s is not an event, must be JSON as --event takes it; give the JSON itself to see what is wrong with it", arg[1:])
}

// epsilonError gives refusals of privacy their exit code; what is left after the
// flags were checked is about the numbers in them.
func epsilonError(c *cobra.Command, err error) error {
	var infeasible *calibrate.InfeasibleError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, words.ErrNoNoise):
		err = fmt.Errorf("--calibrate: %w", err)
	case errors.Is(err, privacy.ErrUnsupported), errors.As(err, &infeasible):
		return withCode(exitPrivacy, err)
	}
	return usage(c, err)
}

// quantity returns what is to be computed.
func (q epsilonQuery) quantity() words.Quantity {
	switch {
	case q.calibrate:
		return words.AskNoise
	case q.steps:
		return words.AskSteps
	case q.curve:
		return words.AskCurve
	case q.hasEpsilon:
		return words.AskDelta
	case q.explained:
		return words.AskExplained
	}
	return words.AskEpsilon
}

// print computes and prints.
func (q epsilonQuery) print(w io.Writer) error {
	answer, err := q.Answer()
	if err != nil {
		return err
	}
	if q.asJSON {
		return printJSON(w, answer.Values)
	}
	_, err = io.WriteString(w, answer.Text)
	return err
}
