package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/ledger"
	"weir/record"
)

func ledgerCommand(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "ledger",
		Short: "Show, verify or merge the ledger of a dataset",
		Long: `A ledger DATASET.weir-ledger.jsonl holds one line for each charge of any run on
a dataset, each line naming the hash of the one before. It can be committed.`,
		Example: "  weir ledger show patients.csv.weir-ledger.jsonl\n  weir ledger verify patients.csv.weir-ledger.jsonl\n  weir ledger merge patients.csv.weir-ledger.jsonl",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return usage(c, errors.New("say show, verify or merge")) },
	}
	c.AddCommand(ledgerShow(s), ledgerVerify(s), ledgerMerge(s))
	return c
}

// ledgerFlags say how a total is read.
type ledgerFlags struct {
	accountant, adjacency string
	delta                 float64
	asJSON                bool
}

func ledgerShow(s streams) *cobra.Command {
	var f ledgerFlags
	c := &cobra.Command{
		Use:     "show FILE",
		Short:   "List the charges and what they come to together",
		Long:    "List the charges of a ledger and what they come to together. The total composes\nthe events; epsilons are not added up.\n\nExit codes: 0 done; 2 usage; 3 the accountant has no bound for a charge; 4 the\nledger is not as it was written.",
		Example: "  weir ledger show patients.csv.weir-ledger.jsonl --delta 1e-6\n  weir ledger show L --adjacency add_remove --accountant rdp --json",
		Args:    exactly(1, "FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			entries, err := readLedger(args[0])
			if err != nil {
				return err
			}
			total, err := f.total(c, entries)
			if err != nil {
				return err
			}
			if f.asJSON {
				return printJSON(s.out, map[string]any{"charges": entries, "total": jsonTotal(total)})
			}
			return printLedger(s.out, entries, total)
		},
	}
	c.Flags().StringVar(&f.accountant, "accountant", "pld", "how charges are composed")
	c.Flags().StringVar(&f.adjacency, "adjacency", "", "add_remove or replace_one (default: replace_one if any charge is, else add_remove)")
	c.Flags().Float64Var(&f.delta, "delta", 1e-6, "delta at which epsilon is read")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object")
	return c
}

func readLedger(path string) ([]ledger.Entry, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, withCode(exitUsage, fmt.Errorf("%s: no such ledger; a dataset without charges has none", path))
	}
	if err != nil {
		return nil, err
	}
	entries, err := ledger.Parse(data)
	if err != nil {
		return nil, withCode(exitMismatch, fmt.Errorf("%s: %w", path, err))
	}
	return entries, nil
}

func (f *ledgerFlags) total(c *cobra.Command, entries []ledger.Entry) (ledger.Total, error) {
	acc, err := account.ByName(f.accountant)
	if err != nil {
		return ledger.Total{}, usage(c, err)
	}
	if !(f.delta >= 0 && f.delta <= 1) {
		return ledger.Total{}, usage(c, fmt.Errorf("--delta: is %v, must be in [0, 1]", f.delta))
	}
	adjacency := commonAdjacency(entries)
	if f.adjacency != "" {
		if adjacency, err = privacy.ParseAdjacency(f.adjacency); err != nil {
			return ledger.Total{}, usage(c, prefixed("--", err))
		}
	}
	total, err := ledger.Sum(entries, acc, adjacency, f.delta)
	if errors.Is(err, privacy.ErrUnsupported) {
		err = withCode(exitPrivacy, err)
	}
	return total, err
}

// commonAdjacency is the one under which all charges can be added up.
func commonAdjacency(entries []ledger.Entry) privacy.Adjacency {
	for _, e := range entries {
		if e.Adjacency == privacy.ReplaceOne {
			return privacy.ReplaceOne
		}
	}
	return privacy.AddRemove
}

// jsonTotal writes an infinite epsilon as null, which JSON has no number for.
func jsonTotal(t ledger.Total) map[string]any {
	var epsilon any = t.Epsilon
	if math.IsInf(t.Epsilon, 1) {
		epsilon = nil
	}
	return map[string]any{"epsilon": epsilon, "delta": t.Delta, "adjacency": t.Adjacency, "accountant": t.Accountant,
		"charges": t.Charges, "reason": t.Reason}
}

func printLedger(w io.Writer, entries []ledger.Entry, total ledger.Total) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "LINE\tTIME\tRUN\tSTAGE\tADJACENCY\tEVENT")
	for i, e := range entries {
		event := "no proven bound: " + e.Unproven
		if e.Event.Event != nil {
			text, err := privacy.MarshalEvent(e.Event.Event)
			if err != nil {
				return err
			}
			event = string(text)
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\n", i+1, e.Time.Format("2006-01-02 15:04"), e.Run, e.Stage, e.Adjacency, event)
	}
	fmt.Fprintf(t, "\ntogether: epsilon %s at delta %g (%s, %s), %s\n", record.Number(total.Epsilon), total.Delta, total.Adjacency, total.Accountant, plural(total.Charges, "charge"))
	if total.Reason != "" {
		fmt.Fprintln(t, total.Reason)
	}
	return t.Flush()
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func ledgerVerify(s streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "verify FILE",
		Short:   "Check the chain of a ledger; name the first line that does not fit",
		Long:    "Check that no line of a ledger was edited, reordered or removed.\n\nExit codes: 0 it is whole; 2 usage; 4 it is not.",
		Example: "  weir ledger verify patients.csv.weir-ledger.jsonl",
		Args:    exactly(1, "FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			entries, err := readLedger(args[0])
			if asJSON {
				report := map[string]any{"ok": err == nil, "charges": len(entries)}
				if err != nil {
					report["error"] = err.Error()
				}
				return errors.Join(printJSON(s.out, report), silent(err))
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(s.out, "%s: whole, %s\n", args[0], plural(len(entries), "charge"))
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func ledgerMerge(s streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "merge FILE [OTHER ...]",
		Short: "Join the branches of a ledger after a git merge, losing no charge",
		Long: `Join the branches of a ledger in place: FILE alone, holding conflict markers or
merged by union, or FILE and the other branches. Charges after the fork are
ordered by time and chained anew; none is lost.

Exit codes: 0 done; 2 usage; 4 a branch is not as it was written.`,
		Example: "  weir ledger merge patients.csv.weir-ledger.jsonl\n  weir ledger merge ours.jsonl theirs.jsonl",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(c, errors.New("FILE: is missing"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			err := ledger.MergeFiles(args[0], args[1:]...)
			switch {
			case errors.Is(err, ledger.ErrTampered):
				return withCode(exitMismatch, err)
			case errors.Is(err, fs.ErrNotExist):
				return usage(c, err)
			case err != nil:
				return err
			}
			entries, err := readLedger(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(s.out, map[string]any{"ledger": args[0], "charges": len(entries)})
			}
			_, err = fmt.Fprintf(s.out, "%s: merged, %s\n", args[0], plural(len(entries), "charge"))
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}
