package record

import "fmt"

// provided returns what the proof asks of those who wrote the specs, beside the promise that rests on it.
func provided(r *Run) string {
	if n := r.paidIn(); n > 1 {
		return fmt.Sprintf("The mechanisms were charged in %d runs, and this is proven if none of them was chosen after a "+
			"look at what another had\n"+
			"released; see \"What was spent\" below.\n\n", n)
	}
	return ""
}

// reusedCharges says what holds where a run has the output of earlier ones. The bound of a
// plan is for mechanisms that were chosen before any of them was seen; what one run charged
// was, whereas another run may have been written after a look at what that one released,
// even where this one charges nothing of its own.
func reusedCharges(r *Run, plan planned) string {
	n := r.paidIn()
	switch {
	case r.unproven():
		return ""
	case n == 1 && r.Charges[0].Run == "":
		return ""
	case n == 1:
		return "\nThis run charged nothing: all its noise is that of one earlier run, which the bound above counts.\n"
	}
	otherwise := "nothing is proven here for all of them together."
	if plan.Dataset.Budget != nil {
		otherwise = "what holds for\nall of them together is the total by the filter of the dataset's budget, which the " +
			"owner has (weir ledger show)."
	}
	return fmt.Sprintf("\nThe bound above counts all of these charges, which were made in %d runs. It holds if what "+
		"each run charged was fixed\n"+
		"before anything that was made of the noise of another was looked at; if not, %s\n", n, otherwise)
}

// paidIn returns in how many runs the noise of this one was charged.
func (r *Run) paidIn() int {
	runs := map[string]bool{}
	for _, c := range r.Charges {
		runs[c.Run] = true
	}
	return len(runs)
}
