package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"weir/pipeline/words"
	"weir/privacy/ledger"
	"weir/runtime/dataset"
	"weir/runtime/store"
)

func ledgerVerify(s streams) *cobra.Command {
	var asJSON bool
	var runs string
	c := &cobra.Command{
		Use:   "verify FILE",
		Short: "Check the chain of a ledger, and that it still holds the charges of runs",
		Long: `Check that no line of a ledger was edited, reordered or removed. FILE is the ledger,
or its table: the owner file beside that says where the ledger lies. A chain alone cannot show that its last lines were
removed; the records of runs can, because each states the head of the ledger after
its charges. Every run.json under --runs that names this ledger or its dataset is
checked; without --runs, the folder runs is searched if it exists. Files that keep what
a crash left of a line, which a run removed from the ledger, are named.

Exit codes: 0 intact; 1 the record of a run cannot be read; 2 usage; 3 it is of an
earlier format; 4 it was altered, or lacks charges that a run has made.`,
		Example: "  weir ledger verify patients.csv.weir-ledger.jsonl\n  weir ledger verify patients.csv.weir-ledger.jsonl --runs archive/runs",
		Args:    exactly(1, "FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			path, entries, err := dataset.ReadLedgerOf(args[0])
			heads := 0
			if err == nil {
				heads, err = checkHeads(c, path, runs, entries)
			}
			kept, asideErr := ledger.Remnants(path)
			err = errors.Join(err, asideErr)
			if asJSON {
				report := map[string]any{"ok": err == nil, "charges": len(entries), "runs": heads, "remnants": append([]string{}, kept...)}
				if err != nil {
					report["error"] = err.Error()
				}
				return errors.Join(printJSON(s.out, report), silent(err))
			}
			for _, file := range kept {
				fmt.Fprintf(s.err, "%s: keeps what a crash left of a line that was removed from the ledger\n", file)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(s.out, "%s: intact, %s, and it holds the heads of %s\n", path, words.Plural(len(entries), "charge"), words.Plural(heads, "run"))
			return err
		},
	}
	c.Flags().StringVar(&runs, "runs", "", "folder of run records to check against (default: runs, if it exists)")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// checkHeads checks the head of every run under the folder and counts them; all
// that are not in the ledger are named.
func checkHeads(c *cobra.Command, path, runs string, entries []ledger.Entry) (int, error) {
	if _, err := os.Stat(runs); runs != "" && err != nil {
		return 0, usage(c, fmt.Errorf("--runs: %w", err))
	}
	if runs == "" {
		runs = "runs"
	}
	records, err := runRecords(runs)
	if err != nil {
		return 0, err
	}
	count, missing := 0, []error(nil)
	for _, file := range records {
		h, err := store.ReadHead(file)
		if err != nil {
			return count, err
		}
		if h.Count == 0 || !charged(h, path, entries) {
			continue
		}
		count++
		if err := ledger.Includes(entries, ledger.Head{Count: h.Count, Hash: h.Hash}); err != nil {
			missing = append(missing, fmt.Errorf("%s: against %s: %w", path, file, err))
		}
	}
	return count, withCode(exitMismatch, errors.Join(missing...))
}

// charged reports whether a run charged the ledger: by its dataset, or by its path,
// which is all there is to go by where every line was removed.
func charged(h store.Head, path string, entries []ledger.Entry) bool {
	if len(entries) > 0 && h.Dataset == entries[0].Dataset {
		return true
	}
	a, err := os.Stat(path)
	b, err2 := os.Stat(h.Ledger)
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// runRecords lists the run.json under a folder, none where the folder is absent.
func runRecords(folder string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && path == folder:
			return fs.SkipAll
		case err != nil:
			return err
		case d.Name() == "run.json" && !d.IsDir():
			found = append(found, path)
		}
		return nil
	})
	return found, err
}
