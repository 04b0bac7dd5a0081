package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"weir/pipeline/words"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/dataset"
)

// ledgerFlags say how a total is read.
type ledgerFlags struct {
	accountant, adjacency, unit string
	delta                       float64
	asJSON                      bool
}

// totals is what the charges add up to: as a plan fixed in advance, and by the filter
// of the cap, if there is one.
type totals struct {
	fixed    ledger.Total
	delta    string // where the delta of both totals is from; "": from the command line
	filter   *ledger.Filter
	line     int // that fixed the filter
	filtered ledger.Total
	balance  *ledger.Balance // of the last cap, if a charge names one
}

func ledgerShow(s streams) *cobra.Command {
	var f ledgerFlags
	c := &cobra.Command{
		Use:   "show FILE",
		Short: "List the charges and what they add up to",
		Long: `List the charges of a ledger and what they add up to for one privacy unit. FILE may
be the table itself: its ledger lies where the owner file beside it says, else beside
it. There are two totals. The first
composes the events under --accountant and holds for a list of charges that was
fixed in advance, as in one plan; epsilons are not simply added. The second is that
of the filter behind the dataset's budget, and holds for runs that were chosen after
looking at earlier ones. Both are read at the delta of the last cap, and the line
"budget" says how much of it is spent and left. Without a cap delta is 1e-6, or ten
times what the charges have of it for themselves (as dp_categories does) where that
is more: charges have no delta of their own, and a plan reads the same ledger at the
delta of its spec. The line below the total says which delta was taken.

Exit codes: 0 done; 2 usage; 3 the accountant has no bound for a charge, or the
ledger is of an earlier format; 4 the ledger was altered.`,
		Example: "  weir ledger show patients.csv.weir-ledger.jsonl --delta 1e-6\n  weir ledger show L --unit patient_id:4 --adjacency add_remove --accountant rdp --json",
		Args:    exactly(1, "FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			_, entries, err := dataset.ReadLedgerOf(args[0])
			if entries, err = looked(s, entries, err); err != nil {
				return err
			}
			t, err := f.totals(c, entries)
			if err != nil {
				return err
			}
			if f.asJSON {
				return printJSON(s.out, map[string]any{"charges": entries, "total": jsonTotal(t.fixed), "filter": t.jsonFilter(), "budget": t.jsonBalance()})
			}
			return printLedger(plainly(s.out), entries, t)
		},
	}
	c.Flags().StringVar(&f.accountant, "accountant", account.Default, "how charges are composed")
	c.Flags().StringVar(&f.adjacency, "adjacency", "", "add_remove or replace_one (default: replace_one if any charge is, else add_remove)")
	c.Flags().StringVar(&f.unit, "unit", "", "row, or COLUMN:MAX_ROWS (default: the column that any charge holds for, with its most rows, else row)")
	c.Flags().Float64Var(&f.delta, "delta", 0, "delta at which epsilon is read (default: that of the last cap, else from the charges)")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object")
	return c
}

func (f *ledgerFlags) totals(c *cobra.Command, entries []ledger.Entry) (t totals, err error) {
	acc, err := account.ByName(f.accountant)
	if err != nil {
		return t, usage(c, err)
	}
	if !c.Flags().Changed("delta") {
		f.delta, t.delta = commonDelta(entries)
	}
	if !(f.delta >= 0 && f.delta <= 1) {
		return t, usage(c, fmt.Errorf("--delta: is %v, must be in [0, 1]", f.delta))
	}
	adjacency, unit := commonAdjacency(entries), commonUnit(entries)
	if f.adjacency != "" {
		adjacency, err = privacy.ParseAdjacency(f.adjacency)
	}
	if f.unit != "" && err == nil {
		unit, err = parseUnit(f.unit)
	}
	if err != nil {
		return t, usage(c, prefixed("--", err))
	}
	if t.fixed, err = ledger.Sum(entries, acc, adjacency, unit, f.delta); err != nil {
		if errors.Is(err, privacy.ErrUnsupported) {
			err = withCode(exitPrivacy, err)
		}
		return t, err
	}
	t.addFilter(entries, adjacency, unit, f.delta)
	t.balance, _ = ledger.BalanceOf(entries) // why it has none, the filter's total says
	return t, nil
}

// addFilter sets the total of the cap's filter; why it has none stands in its
// reason, because the other total is still worth printing.
func (t *totals) addFilter(entries []ledger.Entry, adjacency privacy.Adjacency, unit ledger.Unit, delta float64) {
	filter, line, err := ledger.FilterOf(entries)
	if err == nil && filter == nil {
		return
	}
	t.filter, t.line = &ledger.Filter{Name: "none"}, line
	if err == nil {
		t.filter = filter
		t.filtered, err = ledger.SumFilter(entries, *filter, adjacency, unit, delta)
	}
	if err != nil {
		t.filtered = ledger.Total{Epsilon: math.Inf(1), Delta: delta, Reason: err.Error()}
	}
}

// jsonTotal writes an infinite epsilon as null, which JSON has no number for.
func jsonTotal(t ledger.Total) map[string]any {
	var epsilon any = t.Epsilon
	if math.IsInf(t.Epsilon, 1) {
		epsilon = nil
	}
	return map[string]any{"epsilon": epsilon, "delta": t.Delta, "adjacency": t.Adjacency, "unit": t.Unit, "accountant": t.Accountant,
		"charges": t.Charges, "reason": t.Reason}
}

func (t *totals) jsonFilter() any {
	if t.filter == nil {
		return nil
	}
	return map[string]any{"name": t.filter.Name, "order": t.filter.Order, "line": t.line, "total": jsonTotal(t.filtered)}
}

func printLedger(w io.Writer, entries []ledger.Entry, t totals) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "LINE\tTIME\tRUN\tVERSION\tSTAGE\tSPEND\tUNIT\tADJACENCY\tEVENT")
	for i, e := range entries {
		event := "no proven bound: " + e.Unproven
		if e.Event.Event != nil {
			text, err := privacy.MarshalEvent(e.Event.Event)
			if err != nil {
				return err
			}
			event = string(text)
		}
		fmt.Fprintf(tw, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", i+1, e.Time.Format("2006-01-02 15:04"), e.Run, e.Version, e.Stage, e.Name, e.Unit, e.Adjacency, event)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n"+t.text())
	return err
}

func (t *totals) text() string {
	f := t.fixed
	s := fmt.Sprintf("together: epsilon %s at delta %g for one %s (%s), %s, if all were fixed in advance (%s)\n",
		record.Bound(f.Epsilon), f.Delta, f.Unit, f.Adjacency, words.Plural(f.Charges, "charge"), f.Accountant)
	if t.delta != "" {
		s += "  " + t.delta + "\n"
	}
	if f.Reason != "" {
		s += "  " + f.Reason + "\n"
	}
	if t.filter == nil {
		return s + "no charge was made under a budget of the dataset: nothing bounds runs chosen after looking at earlier ones\n"
	}
	s += fmt.Sprintf("by the budget's filter (%s, fixed in line %d): epsilon %s at delta %g, however runs were chosen after that\n",
		t.filter, t.line, record.Bound(t.filtered.Epsilon), t.filtered.Delta)
	if t.filtered.Reason != "" && t.filtered.Reason != f.Reason {
		s += "  " + t.filtered.Reason + "\n"
	}
	if t.line > 1 {
		s += fmt.Sprintf("  the filter bounds them if its choice did not depend on what the %s before it released\n", words.Plural(t.line-1, "charge"))
	}
	return s + t.balanceText()
}
