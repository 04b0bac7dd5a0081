package main

import (
	"time"

	"github.com/spf13/cobra"

	"weir/runtime"
)

// ledgerPlaceFlags say where a command that opens no data finds the ledger.
type ledgerPlaceFlags struct {
	out, ledger string
	fresh       bool // as of weir run --fresh
}

func (f *ledgerPlaceFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.out, "out", "runs", "folder of runs, which knows what was paid for")
	c.Flags().StringVar(&f.ledger, "ledger", "", "ledger of the dataset (default: beside the dataset)")
}

func (f *ledgerPlaceFlags) options(s streams) runtime.Options {
	return runtime.Options{Out: f.out, Ledger: f.ledger, Fresh: f.fresh, Version: thisVersion().Weir, Build: s.build(), Log: newLog(s.err, false), Clock: time.Now}
}
