package main

import (
	"math"

	"github.com/spf13/cobra"

	"weir/pipeline/words"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/ledger"
	"weir/runtime/dataset"
)

// ledgerSide reads a ledger that lies at path.
func ledgerSide(c *cobra.Command, arg string) (words.Side, error) {
	_, entries, err := dataset.ReadLedgerOf(arg)
	if err != nil {
		return words.Side{}, err
	}
	return ledgerOfEntries(c, arg, entries)
}

// ledgerOfEntries adds a ledger up as weir ledger show does.
func ledgerOfEntries(c *cobra.Command, arg string, entries []ledger.Entry) (words.Side, error) {
	t, err := (&ledgerFlags{accountant: account.Default}).totals(c, entries)
	if err != nil {
		return words.Side{}, err
	}
	charges := &words.Charges{Total: words.LedgerTotal{Epsilon: orNil(t.fixed.Epsilon), Delta: t.fixed.Delta, Adjacency: string(t.fixed.Adjacency),
		Unit: t.fixed.Unit.String(), Accountant: t.fixed.Accountant, Charges: t.fixed.Charges}}
	if t.balance != nil {
		charges.Total.Left = &t.balance.Left
	}
	for i, e := range entries {
		line, err := chargeLine(i+1, e)
		if err != nil {
			return words.Side{}, err
		}
		charges.Dataset, charges.Lines = e.Dataset, append(charges.Lines, line)
	}
	return words.Side{Name: arg, Kind: words.LedgerSide, Charges: charges}, nil
}

func chargeLine(n int, e ledger.Entry) (words.Charge, error) {
	event := "no proven bound: " + e.Unproven
	if e.Event.Event != nil {
		text, err := privacy.MarshalEvent(e.Event.Event)
		if err != nil {
			return words.Charge{}, err
		}
		event = string(text)
	}
	return words.Charge{Identity: e.Identity(), Hash: e.Hash, Line: n, Time: e.Time.Format("2006-01-02 15:04"), Run: e.Run, Stage: e.Stage, Name: e.Name, Event: event}, nil
}

// orNil is nil for no bound, which JSON has no number for.
func orNil(x float64) *float64 {
	if math.IsInf(x, 1) {
		return nil
	}
	return &x
}
