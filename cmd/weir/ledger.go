package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"weir/pipeline/words"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/dataset"
)

func ledgerCommand(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "ledger",
		Short: "Show, verify, merge, restore or continue the ledger of a dataset",
		Long: `A ledger DATASET.weir-ledger.jsonl holds one line for each charge of any run on
a dataset, each line naming the hash of the one before. It holds no digest of the
table and can be committed.`,
		Example: "  weir ledger show patients.csv.weir-ledger.jsonl\n  weir ledger verify patients.csv.weir-ledger.jsonl\n " +
			" weir ledger merge patients.csv.weir-ledger.jsonl",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usage(c, errors.New("command: is missing, must be show, verify, merge, restore or continue"))
		},
	}
	c.AddCommand(ledgerShow(s), ledgerVerify(s), ledgerMerge(s), ledgerRestore(s), ledgerContinue(s))
	return c
}

// looked passes what was read of a ledger where the owner file beside it is damaged, and says so: nobody but a run
// that charges the dataset needs that file.
func looked(s streams, entries []ledger.Entry, err error) ([]ledger.Entry, error) {
	if !errors.Is(err, dataset.ErrDamaged) || len(entries) == 0 {
		return entries, err
	}
	newLog(s.err, false).Warn("whether charges were removed cannot be told: " + err.Error())
	return entries, nil
}

// ledgerFlags say how a total is read.
type ledgerFlags struct {
	accountant, adjacency, unit string
	delta                       float64
	asJSON                      bool
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
		Example: "  weir ledger show patients.csv.weir-ledger.jsonl --delta 1e-6\n  weir ledger show L --unit patient_id:4 " +
			"--adjacency add_remove --accountant rdp --json",
		Args: exactly(1, "FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			_, entries, err := dataset.ReadLedgerOf(args[0])
			if entries, err = looked(s, entries, err); err != nil {
				return err
			}
			t, err := f.overview(c, entries)
			if err != nil {
				return err
			}
			if f.asJSON {
				return printJSON(s.out, map[string]any{"charges": entries, "total": jsonTotal(t.Fixed), "filter": jsonFilter(t),
					"budget": jsonBalance(t)})
			}
			return printLedger(s, entries, t)
		},
	}
	c.Flags().StringVar(&f.accountant, "accountant", account.Default, "how charges are composed")
	c.Flags().StringVar(&f.adjacency, "adjacency", "", "add_remove or replace_one (default: replace_one if any charge "+
		"is, else add_remove)")
	completeFlag(c, "adjacency", oneOf(adjacencies()...))
	completeFlag(c, "accountant", oneOf(account.Names()...))
	c.Flags().StringVar(&f.unit, "unit", "", "row, or COLUMN:MAX_ROWS (default: the column that any charge holds for, "+
		"with its most rows, else row)")
	c.Flags().Float64Var(&f.delta, "delta", 0, "delta at which epsilon is read (default: that of the last cap, else "+
		"from the charges)")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object")
	return c
}

// overview adds charges up as the flags say.
func (f *ledgerFlags) overview(c *cobra.Command, entries []ledger.Entry) (o ledger.Overview, err error) {
	q := ledger.Measure{}
	if q.Accountant, err = account.ByName(f.accountant); err != nil {
		return o, usage(c, err)
	}
	if c.Flags().Changed("delta") {
		q.Delta = &f.delta
	}
	if !(f.delta >= 0 && f.delta <= 1) {
		return o, usage(c, fmt.Errorf("--delta: is %v, must be in [0, 1]", f.delta))
	}
	if f.adjacency != "" {
		q.Adjacency, err = privacy.ParseAdjacency(f.adjacency)
	}
	if f.unit != "" && err == nil {
		var unit ledger.Unit
		unit, err = ledger.ParseUnit(f.unit)
		q.Unit = &unit
	}
	if err != nil {
		return o, usage(c, prefixed("--", err))
	}
	o, err = ledger.Look(entries, q)
	if errors.Is(err, privacy.ErrUnsupported) {
		err = withCode(exitPrivacy, err)
	}
	return o, err
}

// jsonTotal writes an infinite epsilon as null, which JSON has no number for.
func jsonTotal(t ledger.Total) map[string]any {
	var epsilon any = t.Epsilon
	if math.IsInf(t.Epsilon, 1) {
		epsilon = nil
	}
	return map[string]any{"epsilon": epsilon, "delta": t.Delta, "adjacency": t.Adjacency, "unit": t.Unit,
		"accountant": t.Accountant,
		"charges":    t.Charges, "reason": t.Reason}
}

func jsonFilter(t ledger.Overview) any {
	if t.Filter == nil {
		return nil
	}
	return map[string]any{"name": t.Filter.Name, "order": t.Filter.Order, "line": t.Line, "total": jsonTotal(t.Filtered)}
}

// printLedger lists charges and totals, for the width of a terminal.
func printLedger(s streams, entries []ledger.Entry, t ledger.Overview) error {
	head := []string{"LINE", "TIME", "RUN", "VERSION", "STAGE", "SPEND", "UNIT", "ADJACENCY", "EVENT"}
	rows := make([][]string, len(entries))
	for i, e := range entries {
		line, err := chargeLine(i+1, e)
		if err != nil {
			return err
		}
		rows[i] = []string{strconv.Itoa(line.Line), line.Time, line.Run, e.Version, line.Stage, line.Name, e.Unit.String(),
			string(e.Adjacency), line.Event}
	}
	_, err := io.WriteString(plainly(s.out), words.Listing(head, rows, s.columns)+"\n"+s.folded(overviewText(t)))
	return err
}

func overviewText(t ledger.Overview) string {
	f := t.Fixed
	s := fmt.Sprintf("together: epsilon %s at delta %g for one %s (%s), %s, if all were fixed in advance (%s)\n",
		record.Bound(f.Epsilon), f.Delta, f.Unit, f.Adjacency, words.Plural(f.Charges, "charge"), f.Accountant)
	if t.DeltaFrom != "" {
		s += "  " + t.DeltaFrom + "\n"
	}
	if f.Reason != "" {
		s += "  " + f.Reason + "\n"
	}
	if t.Filter == nil {
		return s + "no charge was made under a budget of the dataset: nothing bounds runs chosen after looking at earlier " +
			"ones\n"
	}
	s += fmt.Sprintf("by the budget's filter (%s, fixed in line %d): epsilon %s at delta %g, however runs were chosen "+
		"after that\n",
		t.Filter, t.Line, record.Bound(t.Filtered.Epsilon), t.Filtered.Delta)
	if t.Filtered.Reason != "" && t.Filtered.Reason != f.Reason {
		s += "  " + t.Filtered.Reason + "\n"
	}
	if t.Line > 1 {
		s += fmt.Sprintf("  the filter bounds them if its choice did not depend on what the %s before it released\n",
			words.Plural(t.Line-1, "charge"))
	}
	return s + balanceText(t)
}

// balanceText says in epsilon how the cap stands; nothing where no charge names one.
func balanceText(t ledger.Overview) string {
	b := t.Balance
	if b == nil {
		return ""
	}
	cap := fmt.Sprintf("budget: epsilon %.6g at delta %g", b.Cap.Epsilon, b.Cap.Delta)
	if math.IsInf(b.Spent, 1) {
		reason := b.Reason
		if reason != "" {
			reason = ": " + reason
		}
		return fmt.Sprintf("%s; what is spent has no finite bound, nothing is left (filter %s)%s\n", cap, b.Filter, reason)
	}
	s := fmt.Sprintf("%s; spent %s; left %s (filter %s)\n", cap, record.Bound(b.Spent), privacy.Room(b.Left), b.Filter)
	more := words.Plural(b.Alike, "more charge")
	if b.Alike == ledger.MostAlike {
		more = fmt.Sprintf("%d or more charges", b.Alike)
	}
	s += fmt.Sprintf("  room for %s like that of line %d\n", more, b.Line)
	if b.Pure > 0 {
		s += fmt.Sprintf("  room for one pure release of epsilon %s\n", privacy.Room(b.Pure))
	}
	return s
}

// jsonBalance writes an infinite epsilon as null.
func jsonBalance(t ledger.Overview) any {
	b := t.Balance
	if b == nil {
		return nil
	}
	var spent any = b.Spent
	if math.IsInf(b.Spent, 1) {
		spent = nil
	}
	return map[string]any{"epsilon": b.Cap.Epsilon, "delta": b.Cap.Delta, "adjacency": b.Cap.Adjacency, "unit": b.Cap.Unit,
		"line":   b.Line,
		"filter": b.Filter, "spent": spent, "left": b.Left, "largest_pure": b.Pure, "charges_alike": b.Alike,
		"reason": b.Reason}
}
