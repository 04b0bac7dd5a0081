package runtime

import (
	"weir/pipeline/compile"
	"weir/privacy/ledger"
	"weir/runtime/book"
)

// Together is what the trials of an experiment come to as one plan fixed ahead, and shared
// tells of a stage of the i-th trial whether an earlier one pays for it. A paid stage that
// several of them have by an equal recipe is one release and counts once, unless each
// draws new noise (fresh). Nothing is opened: a stage that reads a further file, or what
// comes of one, has no recipe here and counts in each, which is a bound too.
func Together(trials []Trial, fresh bool) (total ledger.Total, shared func(i int, s *compile.Step) bool, err error) {
	plans, recipes := make([]*compile.Plan, len(trials)), make([]map[string]string, len(trials))
	payer := map[string]int{}
	for i, t := range trials {
		if plans[i], recipes[i] = t.Plan, nil; unpaid(t.Plan) || fresh {
			continue
		}
		if recipes[i], err = Recipes(t.Plan, "", t.Repeat); err != nil {
			return ledger.Total{}, nil, err
		}
		for _, recipe := range recipes[i] {
			if _, known := payer[recipe]; !known {
				payer[recipe] = i
			}
		}
	}
	shared = func(i int, s *compile.Step) bool {
		first, known := payer[recipes[i][s.ID]]
		return known && first < i
	}
	total, err = book.Total(plans, shared)
	return total, shared, err
}
