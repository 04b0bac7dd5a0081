package pipelinetest

import (
	"context"
	"fmt"
	"slices"

	"weir/pipeline"
	"weir/privacy"
)

// neighbour is a pair of tables that differ in what one unit changes, at a port.
type neighbour struct {
	what        string
	base, other Case
}

// neighbours lists pairs for each private table of a case, and one in which all of
// them change: they come from one source.
func neighbours(c Case) []neighbour {
	var list []neighbour
	all := neighbour{what: "all tables", base: c, other: c}
	ports := 0
	for _, port := range c.tablePorts() {
		in := c.In[port]
		if in.Header.Class != pipeline.Private || in.Rows.NumRows() == 0 {
			continue
		}
		for i, n := range variants(in) {
			base, other := c.with(port, edited(in, n.base)), c.with(port, edited(in, n.other))
			list = append(list, neighbour{port + ": " + n.what, base, other})
			if i == 0 {
				all.base, all.other = all.base.with(port, base.In[port].Rows), all.other.with(port, other.In[port].Rows)
				ports++
			}
		}
	}
	if ports > 1 {
		list = append(list, all)
	}
	return list
}

// variant is two versions of one table.
type variant struct {
	what        string
	base, other []line
}

// variants lists neighbours of a table under its stability and adjacency.
func variants(in Input) []variant {
	n := int(in.Rows.NumRows())
	s := in.Header.Stability
	switch {
	case s.Spread == pipeline.SpreadShards:
		return shardVariants(in, n)
	case in.Header.Terms.Adjacency == privacy.AddRemove:
		return removeVariants(in, n, max(1, s.N))
	}
	return replaceVariants(in, n, max(1, s.N))
}

// replaceVariants change the rows of one unit in place, each time to another style.
func replaceVariants(in Input, n, c int) []variant {
	groups := [][]int{unitRows(in, n-1, c), unitRows(in, 0, c), unitRows(in, n/2, c)}
	var list []variant
	for i, to := range styles() {
		group := groups[i%len(groups)]
		list = append(list, variant{fmt.Sprintf("rows %v replaced (%s)", group, to), keepAll(n), change(n, group, to)})
	}
	return append(list, opposite(n, groups[0]))
}

// opposite goes from one end of the domain to the other: what a bound on the
// difference of two contributions needs to be reached.
func opposite(n int, group []int) variant {
	return variant{fmt.Sprintf("%d rows from end to end", len(group)), change(n, group, low), change(n, group, high)}
}

func change(n int, group []int, to style) []line {
	lines := keepAll(n)
	for _, row := range group {
		lines[row].to = to
	}
	return lines
}

// removeVariants add or remove the rows of one unit. They are the last, so that all
// others keep their place: which row a coin of a sample falls to is public chance.
func removeVariants(in Input, n, c int) []variant {
	group := unitRows(in, n-1, c)
	others := slices.DeleteFunc(keepAll(n), func(l line) bool { return slices.Contains(group, l.row) })
	whole := slices.Clone(others)
	for _, row := range group {
		whole = append(whole, line{row: row})
	}
	list := []variant{{fmt.Sprintf("rows %v removed", group), whole, others}, {"the only unit removed", whole[len(others):], nil}}
	for _, to := range styles() {
		added := keepAll(n)
		for i := range c {
			added = append(added, line{(n - 1 + i) % n, to})
		}
		list = append(list, variant{fmt.Sprintf("%d rows added (%s)", c, to), keepAll(n), added})
	}
	return list
}

// shardVariants change all of one shard; its rows go where their number is private.
func shardVariants(in Input, n int) []variant {
	shards := texts(in, pipeline.ShardColumn)
	var group []int
	for i := range n {
		if shards[i] == shards[n-1] {
			group = append(group, i)
		}
	}
	var list []variant
	for _, to := range styles() {
		list = append(list, variant{fmt.Sprintf("shard %s changed (%s)", shards[n-1], to), keepAll(n), change(n, group, to)})
	}
	list = append(list, opposite(n, group))
	if in.Header.Rows == 0 {
		others := slices.DeleteFunc(keepAll(n), func(l line) bool { return slices.Contains(group, l.row) })
		list = append(list, variant{fmt.Sprintf("shard %s removed", shards[n-1]), keepAll(n), others},
			variant{fmt.Sprintf("shard %s grows", shards[n-1]), keepAll(n), append(keepAll(n), line{n - 1, high}, line{n - 1, low})})
	}
	return list
}

// unitRows lists the rows of the unit that has the given row, or c rows up to it
// where each row is a unit.
func unitRows(in Input, row, c int) []int {
	var rows []int
	units := texts(in, in.Header.Terms.Unit.Column)
	for i := range int(in.Rows.NumRows()) {
		if units != nil && units[i] == units[row] || units == nil && (i <= row && i > row-c || row < c && i < c) {
			rows = append(rows, i)
		}
	}
	return rows[:min(len(rows), max(c, 1))]
}

// texts are the values of a column; nil where there is none.
func texts(in Input, column string) []string { return textsOf(in.Rows, column) }

// checkNeighbours: with the mechanisms' outputs frozen, nothing that anyone else may
// see differs between neighbours, what goes into a mechanism moves by no more than
// stated, and private tables change no further than their headers say.
func checkNeighbours(t reporter, c Case) {
	for _, n := range neighbours(c) {
		record := NewFrozen()
		before := observe(context.Background(), n.base, manner{key: 1, probe: record})
		if before.ledger == nil {
			t.Errorf("%s: %v", n.what, before.err)
			continue
		}
		replay := record.Neighbour()
		now := observe(context.Background(), n.other, manner{key: 1, probe: replay})
		faults := before.differences(t, now)
		faults = append(faults, replay.Faults(c.adjacency(), map[string][]pipeline.Planned{"": before.ledger.Plan})...)
		if before.err == nil && now.err == nil {
			faults = append(faults, stabilityFaults(n, before, now)...)
		}
		for _, fault := range faults {
			t.Errorf("%s: %s", n.what, fault)
		}
	}
}
