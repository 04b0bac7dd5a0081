package knn

import (
	"context"
	"slices"

	"weir/train/parallel"
)

// FillGroups is Fill inside each group of rows that have the same number in
// `group`: neighbours come from the receiver's own group. Cells come in order of
// groups; they do not depend on workers.
func FillGroups(ctx context.Context, table Columns, group []int32, opt Options, wanted []int, workers int) ([]Cell, error) {
	members := membersOf(group)
	receives := map[int32]bool{}
	for _, r := range incomplete(table, wanted) {
		receives[group[r]] = true
	}
	parts := make([][]Cell, len(members))
	parallel.Do(workers, len(members), func(_, i int) {
		if rows := members[i]; ctx.Err() == nil && receives[group[rows[0]]] {
			parts[i] = New(table, rows, opt).searcher().fill(table, rows, wanted)
		}
	})
	return slices.Concat(parts...), ctx.Err()
}

// membersOf lists the rows of each group, groups in ascending order.
func membersOf(group []int32) [][]int32 {
	at := map[int32]int{}
	numbers := slices.Clone(group)
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	for i, g := range numbers {
		at[g] = i
	}
	members := make([][]int32, len(numbers))
	for r, g := range group {
		members[at[g]] = append(members[at[g]], int32(r))
	}
	return members
}
