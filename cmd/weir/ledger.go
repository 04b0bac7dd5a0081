package main

import (
	"errors"

	"github.com/spf13/cobra"

	"weir/privacy/ledger"
	"weir/runtime/dataset"
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

// looked passes what was read of a ledger where the owner file beside it is damaged, and says so: nobody but a run
// that charges the dataset needs that file.
func looked(s streams, entries []ledger.Entry, err error) ([]ledger.Entry, error) {
	if !errors.Is(err, dataset.ErrDamaged) || len(entries) == 0 {
		return entries, err
	}
	newLog(s.err, false).Warn("whether charges were removed cannot be told: " + err.Error())
	return entries, nil
}
