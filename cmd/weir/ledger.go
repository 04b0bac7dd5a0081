package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"weir/internal/disk"
	"weir/privacy/ledger"
	"weir/runtime/dataset"
	"weir/runtime/store"
)

func ledgerCommand(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "ledger",
		Short: "Show, verify, merge, restore or continue the ledger of a dataset",
		Long: `A ledger DATASET.weir-ledger.jsonl holds one line for each charge of any run on
a dataset, each line naming the hash of the one before. It holds no digest of the
table and can be committed.`,
		Example: "  weir ledger show patients.csv.weir-ledger.jsonl\n  weir ledger verify patients.csv.weir-ledger.jsonl\n  weir ledger merge patients.csv.weir-ledger.jsonl",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usage(c, errors.New("command: is missing, must be show, verify, merge, restore or continue"))
		},
	}
	c.AddCommand(ledgerShow(s), ledgerVerify(s), ledgerMerge(s), ledgerRestore(s), ledgerContinue(s))
	return c
}

// mostOfLedger is a million charges and more.
const mostOfLedger = 1 << 30

func readLedger(path string) ([]ledger.Entry, error) {
	data, err := disk.ReadFile(path, mostOfLedger)
	if errors.Is(err, fs.ErrNotExist) {
		if lost := dataset.CheckBeside(path, nil); lost != nil {
			return nil, ledgerFault(path, lost)
		}
		return nil, withCode(exitUsage, fmt.Errorf("%s: no such ledger; a dataset without charges has none", path))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, store.Reason(err))
	}
	if len(data) > 0 && data[0] != '{' && !strings.HasSuffix(path, dataset.LedgerSuffix) {
		return nil, withCode(exitMismatch, fmt.Errorf("%s: is no ledger, and no run has charged it: a table has a ledger beside it, "+
			"of several files by their pattern", path))
	}
	entries, err := ledger.Parse(data)
	if err == nil {
		err = dataset.CheckBeside(path, entries)
	}
	return entries, ledgerFault(path, err)
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
