package prep

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/train"
)

// scattered draws a table; share of the cells is missing, and values are
// rounded to whole numbers where coarse, so that many distances tie.
func scattered(rng *rand.Rand, rows, width int, share float64, coarse bool) knnColumns {
	data := make(knnColumns, width)
	for c := range data {
		data[c] = make([]float64, rows)
		for r := range data[c] {
			v := rng.NormFloat64() * float64(c+1)
			if coarse {
				v = math.Round(v)
			}
			if rng.Float64() < share {
				v = math.NaN()
			}
			data[c][r] = v
		}
	}
	return data
}

// fullScan returns the definition of the package comment, without a tree: the
// independent reference of these tests.
func fullScan(data knnColumns, r int32, c int, opt knnOptions) float64 {
	var all []train.Neighbour
	for donor := range data[c] {
		sum, common := 0.0, 0
		for j := range data {
			d := data[j][r] - data[j][donor]
			if math.IsNaN(d) {
				continue
			}
			sum, common = sum+float64(d*d), common+1
		}
		if !math.IsNaN(data[c][donor]) && common > 0 {
			all = append(all, train.Neighbour{Distance: sum * (float64(len(data)) / float64(common)), Row: int32(donor)})
		}
	}
	slices.SortStableFunc(all, func(a, b train.Neighbour) int {
		switch {
		case a.Distance < b.Distance:
			return -1
		case a.Distance > b.Distance:
			return 1
		}
		return int(a.Row - b.Row)
	})
	return mean(data[c], all[:min(opt.Neighbors, len(all))], opt.ByDistance)
}

func mean(column []float64, donors []train.Neighbour, byDistance bool) float64 {
	sum, total := 0.0, 0.0
	for _, d := range donors {
		w := 1.0
		if byDistance {
			w = 1 / math.Sqrt(d.Distance)
		}
		sum, total = sum+w*column[d.Row], total+w
	}
	return sum / total
}

// TestKNNTreeIsFullScan: the tree must choose the donors of a full scan: prune by mistake once (bound
// + 1 in descend) and this fails.
func TestKNNTreeIsFullScan(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		rows, width int
		share       float64
		coarse      bool
	}{{400, 6, 0.1, false}, {700, 3, 0.05, true}, {300, 9, 0.4, false}, {500, 4, 0.3, true}} {
		data := scattered(rng, c.rows, c.width, c.share, c.coarse)
		for _, trees := range []int{1, 4, 1 << 30} { // all trees, both, all loose
			opt := knnOptions{Neighbors: 4, LeafRows: 3, TreeRows: trees}
			cells, err := newKNNIndex(data, nil, opt).Fill(context.Background(), data, nil, allColumns(c.width), 2)
			if err != nil {
				t.Fatal(err)
			}
			checked := 0
			for _, cell := range cells {
				want := fullScan(data, cell.Row, cell.Column, opt)
				if math.IsNaN(want) {
					continue // no donor shares a column: the column mean, tested with the reference values
				}
				checked++
				if math.Abs(cell.Value-want) > 1e-9 {
					t.Fatalf("%+v: cell %+v, full scan gives %g", c, cell, want)
				}
			}
			if checked < 30 {
				t.Fatalf("%+v: only %d cells checked", c, checked)
			}
		}
	}
}

func allColumns(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func TestKNNWorkersDoNotChangeBits(t *testing.T) {
	data := scattered(rand.New(rand.NewPCG(3, 4)), 900, 5, 0.2, false)
	x := newKNNIndex(data, nil, knnOptions{Neighbors: 3, ByDistance: true})
	one, _ := x.Fill(context.Background(), data, nil, allColumns(5), 1)
	four, _ := x.Fill(context.Background(), data, nil, allColumns(5), 4)
	if len(one) == 0 || !cmp.Equal(one, four) {
		t.Errorf("%d cells with one worker differ from %d with four", len(one), len(four))
	}
}

func TestKNNNominalColumnsVote(t *testing.T) {
	nan := math.NaN()
	data := knnColumns{{0, 1, 2, 3, 1}, {7, 2, 2, 7, nan}} // the nearest three of row 4 are 1, 0, 2
	x := newKNNIndex(data, nil, knnOptions{Neighbors: 3, Nominal: []bool{false, true}})
	cells, err := x.Fill(context.Background(), data, nil, []int{1}, 1)
	want := []knnCell{{Row: 4, Column: 1, Value: 2}}
	if err != nil || !cmp.Equal(cells, want) {
		t.Errorf("cells %v, error %v; want %v", cells, err, want)
	}
}

func TestKNNCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	data := scattered(rand.New(rand.NewPCG(5, 6)), 500, 3, 0.5, false)
	if _, err := newKNNIndex(data, nil, knnOptions{Neighbors: 3}).Fill(ctx, data, nil, []int{0}, 2); err !=
		context.Canceled {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
