package main

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"weir/pipeline/compile"
	"weir/pipeline/words"
	"weir/runtime"
	"weir/runtime/experiment"
	"weir/runtime/payment"
	"weir/runtime/review"
)

func planCommand(s streams) *cobra.Command {
	var flags specFlags
	var place ledgerPlaceFlags
	var asJSON, total, statements bool
	var format string
	c := &cobra.Command{
		Use:   "plan SPEC...",
		Short: "Print the DAG and the privacy bill; reads no data",
		Long: `Print what a run will do and what it will cost: every stage with its class and
stability, and the bill (mechanism, event, sensitivity, noise, steps, share,
epsilon alone and cumulative). No data is opened. Where the dataset has a ledger or a
budget, the plan also says what a run would charge, which edit makes a charge a new one
against the earlier run that comes nearest, what it would reuse of earlier runs at no
cost, and what would remain; over the budget it is refused, as the run would be. Of a
spec with an experiment the plan is that of the spec as it stands; --total prints what
all its runs cost together instead; of several specs, on each dataset. Where the rows of
the dataset stay in a database, --sql prints what a run asks of it before it pays, but for
what follows from how columns are stored (the content, faults) and tests by public numbers,
which it describes; of what it asks later, which follows from what it releases, the form.

` + specsHelp + `

Exit codes: 0 done; 2 bad spec or usage; 3 privacy refused or over budget.`,
		Example: "  weir plan examples/cardio/quickstart.yaml\n  weir plan spec.yaml --set privacy.epsilon=0.5 --json\n  " +
			"weir plan spec.yaml --format mermaid\n  weir plan examples/cardio/sweep.yaml --total",
		Args: atLeastOne,
		RunE: func(c *cobra.Command, args []string) error {
			if asJSON {
				format = "json"
			}
			if args = several(args); len(args) > 1 {
				return flags.printTotals(c, s, &place, args, format, total)
			}
			draw, ok := planFormats()[format]
			if !ok {
				return usage(c, fmt.Errorf("--format: is %q, must be text, json, mermaid or dot", format))
			}
			plan, err := flags.compile(args[0])
			if err != nil {
				return err
			}
			printNotes(s.err, s.wrap, plan)
			if statements && total {
				return usage(c, errors.New("--sql: is given with --total, must be given without"))
			}
			if statements {
				return printStatements(c, s, format, plan)
			}
			if total {
				return flags.printTotal(c, s, &place, args[0], format, plan)
			}
			first := runtime.Trial{Plan: plan, Repeat: plan.Spec.Experiment.Skipped()}
			quotes, refused := place.foresee(c.Context(), s, &flags, args[0], []runtime.Trial{first})
			_, cells := flags.priced(args[0], plan)
			refused = errors.Join(refused, cells)
			why, err := review.Becauses(place.out, plan, quotes)
			if err != nil {
				return err
			}
			if format == "json" {
				return errors.Join(printJSON(s.out, planResult{plan, quotes, why}), refused)
			}
			err = draw(s, plan)
			if err == nil && format == "text" {
				err = printQuotes(s, quotes, why)
			}
			return errors.Join(err, refused)
		},
	}
	flags.add(c)
	place.add(c)
	c.Flags().BoolVar(&total, "total", false,
		"print the bill of all runs of the spec's experiment together (text or json)")
	c.Flags().BoolVar(&statements, "sql", false, "print the SQL that a database gets which keeps the dataset's rows "+
		"(text or json)")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object (--format json)")
	c.Flags().StringVar(&format, "format", "text", "text, json, mermaid or dot")
	completeFlag(c, "format", oneOf("text", "json", "mermaid", "dot"))
	return c
}

// printStatements prints what a run asks of a database before it pays.
func printStatements(c *cobra.Command, s streams, format string, plan *compile.Plan) error {
	if format != "json" && format != "text" {
		return usage(c, fmt.Errorf("--format: is %q, must be text or json with --sql", format))
	}
	list, err := runtime.Statements(plan)
	if err != nil {
		return usage(c, err)
	}
	if format == "json" {
		return printJSON(s.out, map[string]any{"statements": list})
	}
	_, err = io.WriteString(s.out, runtime.StatementsText(plan, list))
	return err
}

// planResult is what `weir plan --json` prints: the plan, and what ledgers say of it.
type planResult struct {
	*compile.Plan
	Ledgers []payment.Quote           `json:"ledgers,omitempty"`
	Because map[string]review.Because `json:"because,omitempty"` // by stage: what makes it a new charge
}

// printTotal prints what all runs of an experiment cost together, and how its ledger would
// stand; a spec without one is one run.
func (f *specFlags) printTotal(c *cobra.Command, s streams, place *ledgerPlaceFlags, arg, format string,
	base *compile.Plan) error {
	if format != "json" && format != "text" {
		return usage(c, fmt.Errorf("--format: is %q, must be text or json with --total", format))
	}
	f.tellPlanned(s)
	x, err := f.priced(arg, base)
	if err != nil {
		return err
	}
	bill, err := experiment.BillOf(x.Runs(), false)
	if err != nil {
		return err
	}
	quotes, refused := place.foresee(c.Context(), s, f, arg, x.Runs())
	if format == "json" {
		return errors.Join(printJSON(s.out, map[string]any{"bill": bill, "ledgers": quotes}), refused)
	}
	_, err = io.WriteString(s.out, words.WrapTo(bill.Text(), s.columns))
	return errors.Join(err, printQuotes(s, quotes, nil), refused)
}

// tellPlanned says on a terminal how far planning is.
func (f *specFlags) tellPlanned(s streams) {
	if !s.terminal {
		return
	}
	var lock sync.Mutex
	f.tell = func(arg string, n int) {
		lock.Lock()
		defer lock.Unlock()
		fmt.Fprintf(s.err, "\r\x1b[K%s: %s planned\r", arg, words.Plural(n, "combination"))
	}
}

// printTotals prints what all runs of several specs cost together, on each dataset.
func (f *specFlags) printTotals(c *cobra.Command, s streams, place *ledgerPlaceFlags, args []string, format string,
	total bool) error {
	if !total || format != "json" && format != "text" {
		return usage(c, errors.New("plan: is given several specs, must be given --total with them (text or json), or one"))
	}
	f.tellPlanned(s)
	list, err := f.planAll(args, experiment.Priced)
	if err != nil {
		return err
	}
	bills, err := experiment.BillsOf(list, false)
	if err != nil {
		return err
	}
	quotes, refused := place.foresee(c.Context(), s, f, args[0], experiment.AllRuns(list))
	if format == "json" {
		return errors.Join(printJSON(s.out, map[string]any{"bills": bills, "ledgers": quotes}), refused)
	}
	for _, b := range bills {
		if _, err := io.WriteString(s.out, words.WrapTo(b.Text(), s.columns)); err != nil {
			return err
		}
	}
	return errors.Join(printQuotes(s, quotes, nil), refused)
}

func planFormats() map[string]func(streams, *compile.Plan) error {
	written := func(s streams, text string) error { _, err := io.WriteString(s.out, text); return err }
	return map[string]func(streams, *compile.Plan) error{
		"text":    func(s streams, p *compile.Plan) error { return written(s, words.PlanTo(p.Plan, s.columns)) },
		"json":    nil, // has more in it than the plan
		"mermaid": func(s streams, p *compile.Plan) error { return written(s, words.Mermaid(p.Plan)) },
		"dot":     func(s streams, p *compile.Plan) error { return written(s, words.DOT(p.Plan)) },
	}
}
