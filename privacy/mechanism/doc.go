// Package mechanism releases counts, selections, quantiles, bounds, open
// category sets and rounds of a filter.
//
// Each mechanism is a plain value, a privacy.Mechanism: the plan holds it, the bill
// takes its event, and a payer opens it. It is drawn through the *privacy.Handle that
// comes of that and in no other way: ReleaseCounts, Select, ReleaseQuantile,
// ReleaseBounds, ReleasePartitions and, for a filter, ReleaseIntegers and Choose. Every parameter of a draw is
// the handle's, so what is charged and what is done cannot disagree; each call takes
// the next use, so a loop has fresh noise each time and cannot go on for longer than
// planned. Concurrent calls on one handle would take uses in no fixed order: a run
// that is to be replayed calls one after the other.
//
// What is drawn is exact: integers and rational probabilities, or, where said, a
// normal law or a float choice with a stated error.
package mechanism

import "errors"

// ErrNoBounds means that too few numbers came in for the noise: a released fact.
var ErrNoBounds = errors.New("no bin reaches the threshold of")
