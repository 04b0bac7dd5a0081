package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"weir/privacy/ledger"
)

func ledgerCommand(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "ledger",
		Short: "Show, verify, merge or continue the ledger of a dataset",
		Long: `A ledger DATASET.weir-ledger.jsonl holds one line for each charge of any run on
a dataset, each line naming the hash of the one before. It holds no digest of the
table and can be committed.`,
		Example: "  weir ledger show patients.csv.weir-ledger.jsonl\n  weir ledger verify patients.csv.weir-ledger.jsonl\n  weir ledger merge patients.csv.weir-ledger.jsonl",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usage(c, errors.New("say show, verify, merge or continue"))
		},
	}
	c.AddCommand(ledgerShow(s), ledgerVerify(s), ledgerMerge(s), ledgerContinue(s))
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
	return entries, ledgerFault(path, err)
}

// ledgerFault gives the error of a ledger its exit code.
func ledgerFault(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ledger.ErrOldFormat):
		return withCode(exitPrivacy, fmt.Errorf("%s: %w", path, err))
	}
	return withCode(exitMismatch, fmt.Errorf("%s: %w", path, err))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func ledgerMerge(s streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "merge FILE [OTHER ...]",
		Short: "Join the branches of a ledger after a git merge, losing no charge",
		Long: `Join the branches of a ledger in place: FILE alone, holding conflict markers or
merged by union, or FILE and the other branches. Charges after the fork are
ordered by time and chained anew; none is lost.

Exit codes: 0 done; 2 usage; 3 a branch is of an earlier format; 4 a branch is not as it was written.`,
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
			case errors.Is(err, ledger.ErrOldFormat):
				return withCode(exitPrivacy, err)
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
