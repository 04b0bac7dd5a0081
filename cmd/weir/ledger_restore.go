package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"weir/pipeline/words"
	"weir/privacy/ledger"
	"weir/runtime/dataset"
)

func ledgerRestore(s streams) *cobra.Command {
	var out string
	var asJSON bool
	c := &cobra.Command{
		Use:   "restore FILE",
		Short: "Write a lost or cut ledger again from the owner's copy",
		Long: `Write a ledger again that was deleted, stashed or checked out as it was before a
run. FILE is the table, which may be gone, or its ledger. Every charge is kept in
FILE.weir-owner.jsonl too, beside the owner file, before its noise is drawn. The
ledger is written from there only if that copy is a whole chain which holds all
charges that the owner file notes, and all that the present ledger holds: it never
has fewer lines afterwards. A copy that lacks charges restores nothing, and the runs
that made them are named, as far as the records under --out tell. A ledger with
charges that the copy lacks is a branch, which weir ledger merge joins. Lines that were
edited are replaced, and said; the ledger as it was is kept beside it (.remnant-N).

Exit codes: 0 done, or nothing was missing; 2 usage; 3 the copy lacks charges that
were made; 4 the ledger is a branch, the copy was altered,
or the ledger so that it may hold a charge which the copy lacks.`,
		Example: "  weir ledger restore patients.csv\n" +
			"  weir ledger restore patients.csv.weir-ledger.jsonl --out archive/runs",
		Args: exactly(1, "FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			done, err := dataset.Restore(dataset.Restoration{Disk: diskOf(c, s), Out: out, Of: args[0]})
			switch {
			case errors.Is(err, dataset.ErrUnknown), errors.Is(err, dataset.ErrUncharged):
				return usage(c, err)
			case errors.Is(err, ledger.ErrBranch):
				return withCode(exitMismatch, err)
			case err != nil:
				return err
			}
			if asJSON {
				return printJSON(s.out, map[string]any{"dataset": done.ID, "ledger": done.Ledger, "copy": done.Copy,
					"charges": done.Charges, "restored": done.Charges - done.There, "replaced": done.Altered, "kept": done.Kept})
			}
			_, err = fmt.Fprintln(s.out, restoredText(done))
			return err
		},
	}
	c.Flags().StringVar(&out, "out", "runs", "folder of runs, which knows the datasets")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func restoredText(done dataset.Restored) string {
	if done.There == done.Charges && done.Kept == "" {
		return fmt.Sprintf("%s: holds %s, and none is missing", done.Ledger, words.Plural(done.Charges, "charge"))
	}
	text := fmt.Sprintf("%s: restored %s from %s, and holds %d now",
		done.Ledger, words.Plural(done.Charges-done.There, "charge"), done.Copy, done.Charges)
	if done.Kept != "" {
		text += fmt.Sprintf("; replaced what was altered (line %s), and kept the file as it was: %s", strings.Trim(fmt.Sprint(done.Altered), "[]"), done.Kept)
	}
	return text
}
