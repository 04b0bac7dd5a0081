package knn

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
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
	var next atomic.Int64
	var wait sync.WaitGroup
	for range max(1, min(workers, len(members))) {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := int(next.Add(1) - 1); i < len(members) && ctx.Err() == nil; i = int(next.Add(1) - 1) {
				if rows := members[i]; receives[group[rows[0]]] {
					x := New(table, rows, opt)
					parts[i] = x.searcher().fill(table, rows, wanted)
				}
			}
		}()
	}
	wait.Wait()
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
