package pay

import (
	"fmt"

	"weir/pipeline/compile"
	"weir/privacy/account"
	"weir/privacy/ledger"
)

// Total is what the plans of an experiment come to together, as one plan fixed
// ahead: its runs are chosen before any of them is seen.
func Total(plans []*compile.Plan) (ledger.Total, error) {
	first := plans[0]
	accountant, err := account.ByName(first.Accountant)
	if err != nil {
		return ledger.Total{}, err
	}
	var entries []ledger.Entry
	for i, p := range plans {
		for j := range p.Steps {
			for n := range p.Steps[j].Spends {
				s, spend := &p.Steps[j], p.Steps[j].Spends[n]
				entries = append(entries, ledger.Entry{ID: fmt.Sprintf("run %d/%s/%s", i+1, s.ID, spend.Name), Event: spend.Event,
					Adjacency: p.Adjacency, Unit: unitOf(p), Unproven: s.Unproven})
			}
		}
	}
	return ledger.Sum(entries, accountant, first.Adjacency, unitOf(first), first.Delta)
}
