package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"weir/pipeline"
	"weir/pipeline/words"
	"weir/privacy/ledger"
	"weir/runtime/dataset"
	"weir/runtime/files"
	"weir/runtime/payment"
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
		Example: "  weir ledger verify patients.csv.weir-ledger.jsonl\n  weir ledger verify patients.csv.weir-ledger.jsonl " +
			"--runs archive/runs",
		Args: exactly(1, "FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			path, entries, err := dataset.ReadLedgerOf(args[0])
			heads := 0
			if err == nil {
				heads, err = checkHeads(c, path, runs, entries)
				err = ofCopy(path, err)
			}
			left, asideErr := ledger.Remnants(path)
			err = errors.Join(err, asideErr)
			if asJSON {
				report := map[string]any{"ok": err == nil, "charges": len(entries), "runs": heads, "remnants": append([]string{},
					left...)}
				if err != nil {
					report["error"] = err.Error()
				}
				return errors.Join(printJSON(s.out, report), silent(err))
			}
			for _, file := range left {
				fmt.Fprintf(s.err, "%s: keeps what a crash left of a line that was removed from the ledger\n", file)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(s.out, "%s: intact, %s, and it holds the heads of %s\n", path, words.Plural(len(entries),
				"charge"), words.Plural(heads, "run"))
			return err
		},
	}
	c.Flags().StringVar(&runs, "runs", "", "folder of run records to check against (default: runs, if it exists)")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// ofCopy adds to a fault of a ledger that the dataset is charged in another one, of which this is a copy.
func ofCopy(path string, err error) error {
	if err == nil {
		return nil
	}
	charged, unread := dataset.LedgerOf(strings.TrimSuffix(path, dataset.LedgerSuffix))
	if unread != nil || store.SamePath(charged, path) {
		return err
	}
	return fmt.Errorf("%w; the owner file beside it names %s, in which the dataset is charged: this is a copy that stayed "+
		"behind", err, charged)
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
	count, missing, err := payment.CheckRecords(runs, path, entries)
	if err != nil {
		return count, err
	}
	return count, withCode(exitMismatch, errors.Join(missing...))
}

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
			done, err := dataset.Restore(dataset.Restoration{Disk: diskOf(c, s), Out: out, Of: args[0],
				Stated: payment.StatedCharges})
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
		text += fmt.Sprintf("; replaced what was altered (line %s), and kept the file as it was: %s",
			strings.Trim(fmt.Sprint(done.Altered), "[]"), done.Kept)
	}
	return text
}

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
			done, err := dataset.Continue(dataset.Continuation{Disk: diskOf(c, s), Out: out, Old: args[0], New: args[1],
				Random: rand.Reader, Clock: time.Now})
			if errors.Is(err, dataset.ErrUnknown) || errors.Is(err, fs.ErrNotExist) {
				return usage(c, err)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(s.out, map[string]any{"dataset": done.ID, "ledger": done.Ledger, "file": args[1],
					"joined": done.Charges, "former_ledger": done.Former})
			}
			_, err = fmt.Fprintf(s.out, "%s: belongs to dataset %s now%s%s\n", args[1], done.ID, chargedTo(done.Ledger),
				tookOver(done))
			return err
		},
	}
	c.Flags().StringVar(&out, "out", "runs", "folder of runs, which knows the datasets")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// readable refuses a table that cannot be opened: a folder or a pipe is none. A table that lies in no file
// (NAME.database) is opened by the runs that read it.
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

// chargedTo names the ledger that a dataset is charged to; "" where nothing was charged yet.
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
