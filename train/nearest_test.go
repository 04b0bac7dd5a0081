package train_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"weir/train"
	"weir/train/parallel"
)

// from measures squared distances to a point.
type from []float64

func (q from) Bound(box []float64) float64 {
	sum := 0.0
	for j, v := range q {
		gap := max(box[2*j]-v, v-box[2*j+1], 0)
		sum += float64(gap * gap)
	}
	return sum
}

func (q from) Distance(point []float64, limit float64) float64 {
	sum := 0.0
	for j, v := range q {
		if sum += float64((v - point[j]) * (v - point[j])); sum > limit {
			return math.Inf(1) // anything above the limit will do
		}
	}
	return sum
}

// fullScan returns Search by definition.
func fullScan(q from, points []float64, rows []int32, skip int32, k int) []train.Neighbour {
	var all []train.Neighbour
	for i, r := range rows {
		if r != skip {
			all = append(all, train.Neighbour{Distance: q.Distance(points[i*len(q):(i+1)*len(q)], math.Inf(1)), Row: r})
		}
	}
	slices.SortFunc(all, func(a, b train.Neighbour) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.Row, b.Row))
	})
	return all[:min(k, len(all))]
}

// scattered draws 3 columns of n rows; grain 0 draws real numbers, others whole
// ones from 0 to grain-1, so that many distances tie and many points are equal.
func scattered(rng *rand.Rand, n, grain int) (points []float64, rows []int32) {
	for i := range n {
		rows = append(rows, int32(2*i+1))
		for range 3 {
			if grain == 0 {
				points = append(points, rng.NormFloat64())
			} else {
				points = append(points, float64(rng.IntN(grain)))
			}
		}
	}
	return points, rows
}

// TestTreeIsFullScan: the same rows in the same order, of equals the lower one, for
// lists of several lengths at once and with a row left out.
func TestTreeIsFullScan(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 5, 400} {
		for _, grain := range []int{0, 1, 2, 6} {
			points, rows := scattered(rng, n, grain)
			for _, leaf := range []int{1, 16} {
				tree := train.NewNearestTree(points, 3, rows, leaf, func(_ int, gap float64) float64 { return gap })
				for i := range min(n, 40) {
					q, skip := from(points[3*i:3*i+3]), []int32{-1, rows[i]}[i%2]
					lists := []*train.NearestRows{{K: 1}, {K: 2}, {K: 7}}
					tree.Search(q, skip, lists...)
					for _, b := range lists {
						if want := fullScan(q, points, rows, skip, b.K); !slices.Equal(b.List, want) {
							t.Fatalf("%d rows, grain %d, leaf %d, row %d, the %d nearest are %v, full scan %v", n, grain, leaf, i, b.K,
								b.List, want)
						}
					}
				}
			}
		}
	}
}

// TestEqualPointsEndTheSearch: of a thousand equal points a search looks at the
// first leaf alone, since no later row can enter.
func TestEqualPointsEndTheSearch(t *testing.T) {
	points, rows := scattered(rand.New(rand.NewPCG(3, 4)), 1000, 1)
	tree := train.NewNearestTree(points, 3, rows, 16, func(_ int, gap float64) float64 { return gap })
	seen := 0
	tree.Search(counting{from{0, 0, 0}, &seen}, -1, &train.NearestRows{K: 2})
	if seen > 16 {
		t.Errorf("%d distances were computed, must be those of a leaf", seen)
	}
}

type counting struct {
	from
	seen *int
}

func (q counting) Distance(point []float64, limit float64) float64 {
	*q.seen++
	return q.from.Distance(point, limit)
}

// TestEveryPieceOnce: on any number of workers, each of which is known by its number.
func TestEveryPieceOnce(t *testing.T) {
	for _, count := range []int{0, 1, 3, 50} {
		done, keys := make([]int, 20), make([]int, 20)
		parallel.Do(count, len(done), func(worker, piece int) {
			done[piece]++
			keys[piece] = worker
		})
		if slices.Min(done) != 1 || slices.Max(done) != 1 || slices.Min(keys) < 0 || slices.Max(keys) >= max(1, count) {
			t.Errorf("%d workers: pieces done %v times, by %v", count, done, keys)
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
