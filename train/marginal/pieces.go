package marginal

import "slices"

// together is how many sets share a key: more would share it further, but leave less to
// do side by side.
const together = 4

// piece is up to `together` sets of equal length that differ in their last column only:
// they share the key of the columns before it.
type piece struct {
	before []int // columns of the shared key
	sets   []int // places in the list of sets
}

// piecesOf puts sets together, each of at least one column.
func piecesOf(sets [][]int) []piece {
	order := make([]int, len(sets))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return slices.Compare(before(sets[a]), before(sets[b])) })
	var list []piece
	for _, i := range order {
		last := len(list) - 1
		if last >= 0 && len(list[last].sets) < together && slices.Equal(list[last].before, before(sets[i])) {
			list[last].sets = append(list[last].sets, i)
		} else {
			list = append(list, piece{before(sets[i]), []int{i}})
		}
	}
	return list
}

func before(set []int) []int { return set[:len(set)-1] }
