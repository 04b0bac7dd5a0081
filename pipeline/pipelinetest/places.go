package pipelinetest

import (
	"fmt"
	"slices"

	"weir/pipeline"
	"weir/privacy"
)

// moveVariants take rows away from the beginning and the middle, and put new ones
// there: all rows behind them move up or down. A kind that looks at where a row stands
// (a public coin for each row in turn, every second row, the first twenty, the row
// before) treats many rows otherwise because of one, which changes at the end never
// show.
func moveVariants(in Input, n, c int) []variant {
	var list []variant
	for i, at := range slices.Compact([]int{0, n / 2}) {
		group := unitRows(in, at, c)
		list = append(list, variant{what: fmt.Sprintf("rows %v removed", group), base: keepAll(n), other: without(n, group), moves: true})
		to := styles()[i]
		list = append(list, variant{what: fmt.Sprintf("%d rows put before row %d (%s)", c, at, to), base: keepAll(n), other: inserted(keepAll(n), at, c, to), moves: true})
	}
	if n > 1 && texts(in, in.Header.Terms.Unit.Column) == nil { // a row copied would be one more of its unit
		twice := keepAll(n)
		twice[n/2].row = n/2 - 1
		list = append(list, variant{what: fmt.Sprintf("%d rows put between two equal ones", c), base: twice, other: inserted(twice, n/2, c, another), moves: true})
	}
	return list
}

func without(n int, group []int) []line {
	return slices.DeleteFunc(keepAll(n), func(l line) bool { return slices.Contains(group, l.row) })
}

// inserted puts c rows of one new unit before a row.
func inserted(lines []line, at, c int, to style) []line {
	added := make([]line, c)
	for i := range added {
		added[i] = line{(at + i) % len(lines), to}
	}
	return slices.Insert(slices.Clone(lines), at, added...)
}

// draws says what of a case falls to each row in turn by secret chance. Where rows
// have moved it falls otherwise on both tables, and they can be compared only after
// coupling: giving each row the coin that it had. The proofs do so; a replay cannot.
type draws struct{ samples, secrets bool }

func drawsOf(work pipeline.Work, plan []pipeline.Planned, adjacency privacy.Adjacency) draws {
	d := draws{secrets: work.Secret}
	for _, p := range plan {
		d.samples = d.samples || sampled(p.Value, adjacency)
	}
	return d
}

// sampled reports whether a mechanism draws which rows it sees: train.DPSGD does, but
// for a rate of 1, which a case may choose to be held to all places.
func sampled(m privacy.Mechanism, a privacy.Adjacency) bool { return samples(m.Event(a)) }

func samples(e privacy.Event) bool {
	switch e := e.(type) {
	case privacy.PoissonSampled:
		return e.SamplingRate < 1 || samples(e.Event)
	case privacy.SampledWithoutReplacement:
		return e.SampleSize < e.Population || samples(e.Event)
	case privacy.Repeated:
		return samples(e.Event)
	case privacy.Composed:
		return slices.ContainsFunc(e.Events, samples)
	case privacy.Parallel:
		return slices.ContainsFunc(e.Events, samples)
	}
	return false
}
