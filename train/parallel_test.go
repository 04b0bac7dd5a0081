package train_test

import (
	"slices"
	"testing"

	"weir/train/parallel"
)

// TestEveryPieceOnce: on any number of workers, each of which is known by its number.
func TestEveryPieceOnce(t *testing.T) {
	for _, count := range []int{0, 1, 3, 50} {
		done, by := make([]int, 20), make([]int, 20)
		parallel.Do(count, len(done), func(worker, piece int) {
			done[piece]++
			by[piece] = worker
		})
		if slices.Min(done) != 1 || slices.Max(done) != 1 || slices.Min(by) < 0 || slices.Max(by) >= max(1, count) {
			t.Errorf("%d workers: pieces done %v times, by %v", count, done, by)
		}
	}
	parallel.Do(4, 0, func(_, _ int) { t.Error("a piece of nothing is done") })
}

// TestPanicReachesTheCaller: on any worker, after the others have come to an end.
func TestPanicReachesTheCaller(t *testing.T) {
	for _, count := range []int{1, 4} {
		func() {
			defer func() {
				if p := recover(); p != "piece 7" {
					t.Errorf("%d workers: the caller sees %v, must see the panic", count, p)
				}
			}()
			parallel.Do(count, 20, func(_, piece int) {
				if piece == 7 {
					panic("piece 7")
				}
			})
		}()
	}
}
