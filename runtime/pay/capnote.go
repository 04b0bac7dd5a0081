package pay

import (
	"fmt"

	"weir/privacy/ledger"
)

// capNote tells the data's owner of a spec that promises less than the last capped
// charge did: the budget is a line of the spec, so whoever edits it raises or drops
// the cap. It is empty where nothing was loosened.
func capNote(entries []ledger.Entry, now *ledger.Cap) string {
	before, line := ledger.LastCap(entries)
	switch {
	case line == 0:
		return ""
	case now == nil:
		return fmt.Sprintf("the ledger was capped at %s; this spec has no budget, so nothing bounds what this and later runs spend together", terms(before))
	case !now.Looser(before):
		return ""
	case now.Unit.Column != before.Unit.Column || now.Adjacency != before.Adjacency:
		return fmt.Sprintf("the ledger was capped at %s for one %s, %s; this spec says %s for one %s, %s",
			terms(before), before.Unit, before.Adjacency, terms(*now), now.Unit, now.Adjacency)
	case now.Delta != before.Delta:
		return fmt.Sprintf("the ledger was capped at %s; this spec says %s", terms(before), terms(*now))
	}
	return fmt.Sprintf("the ledger was capped at %s; this spec says %g", terms(before), now.Epsilon)
}

func terms(c ledger.Cap) string { return fmt.Sprintf("epsilon %g (delta %g)", c.Epsilon, c.Delta) }
