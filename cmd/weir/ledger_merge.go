package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"weir/pipeline/words"
	"weir/privacy/ledger"
	"weir/runtime/dataset"
)

func ledgerMerge(s streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "merge FILE [OTHER ...]",
		Short: "Join the branches of a ledger after a git merge without losing a charge",
		Long: `Join the branches of a ledger in place: FILE alone, holding conflict markers or
merged by union, or FILE and the other branches. Charges after the fork are
ordered by time and chained anew; none is lost.

Exit codes: 0 done; 2 usage; 3 a branch is of an earlier format; 4 a branch was altered.`,
		Example: "  weir ledger merge patients.csv.weir-ledger.jsonl\n  weir ledger merge ours.jsonl theirs.jsonl",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(c, errors.New("FILE: is missing"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			err := ledger.MergeFiles(diskOf(c, s), args[0], args[1:]...)
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
			entries, err := dataset.ReadLedger(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(s.out, map[string]any{"ledger": args[0], "charges": len(entries)})
			}
			_, err = fmt.Fprintf(s.out, "%s: merged, %s\n", args[0], words.Plural(len(entries), "charge"))
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}
