package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"weir/pipeline"
	"weir/runtime/dataset"
	"weir/runtime/files"
)

func ledgerContinue(s streams) *cobra.Command {
	var out string
	var asJSON bool
	c := &cobra.Command{
		Use:   "continue OLD NEW",
		Short: "Charge a new file to the ledger of an existing dataset",
		Long: `Say that the file NEW is a later state of the dataset OLD (a file that was run,
which may be gone, or its ledger), so that one ledger and one budget hold for
both: an extract of the next year, a corrected table, a copy in another format.
A table of a server is NAME.database, in the folder of its spec.
NEW gets the id and the key of OLD, in NEW.weir-owner.json, which must never be
committed. Charges in a ledger of NEW's own are appended to OLD's, whatever
its budget, because they were spent; NEW's ledger is kept under a name
that ends in .joined. An interrupted command is finished by running it again.

Exit codes: 0 done; 2 usage; 3 a ledger lacks charges that were made.`,
		Example: "  weir ledger continue patients-2025.csv patients-2026.csv\n" +
			"  weir ledger continue patients.csv.weir-ledger.jsonl cleaned/patients.parquet\n" +
			"  weir ledger continue march.database april.database",
		Args: exactly(2, "OLD NEW"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := readable(args[1]); err != nil {
				return usage(c, err)
			}
			done, err := dataset.Continue(dataset.Continuation{Disk: diskOf(c, s), Out: out, Old: args[0], New: args[1], Random: rand.Reader, Clock: time.Now})
			if errors.Is(err, dataset.ErrUnknown) || errors.Is(err, fs.ErrNotExist) {
				return usage(c, err)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(s.out, map[string]any{"dataset": done.ID, "ledger": done.Ledger, "file": args[1], "joined": done.Charges, "former_ledger": done.Former})
			}
			_, err = fmt.Fprintf(s.out, "%s: belongs to dataset %s now%s%s\n", args[1], done.ID, chargedTo(done.Ledger), tookOver(done))
			return err
		},
	}
	c.Flags().StringVar(&out, "out", "runs", "folder of runs, which knows the datasets")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// readable refuses a table that cannot be opened: a folder or a pipe is none. A table that lies in no file (NAME.database)
// is opened by the runs that read it.
func readable(name string) error {
	if pipeline.IsElsewhere(name) {
		return nil
	}
	folder, err := files.OpenFolder(".", false)
	if err != nil {
		return err
	}
	defer folder.Close()
	parts, err := folder.List(name)
	for _, file := range parts {
		err = errors.Join(err, folder.Check(file))
	}
	return err
}

// chargedTo is empty for a dataset that was only read so far.
func chargedTo(ledger string) string {
	if ledger == "" {
		return ""
	}
	return ", charged to " + ledger
}

// tookOver says what became of the file's own ledger.
func tookOver(done dataset.Continued) string {
	if done.Charges == 0 {
		return ""
	}
	return fmt.Sprintf("; its %d charges were moved there, and its former ledger is %s", done.Charges, done.Former)
}
