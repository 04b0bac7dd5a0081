package graphical

import (
	"context"
	"math/rand/v2"
	"runtime"
	"testing"
)

// allocated is every byte that work takes of the heap, given back or not: no less than
// the most that it holds at a time.
func allocated(work func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// TestMemoryOfAFit: a fit takes two and a half times the tables of the cliques, 8 bytes a
// cell (before and after, and what passes between them), and 100 bytes a measured cell
// (docs/marginals.md section 3), however many sweeps it makes.
func TestMemoryOfAFit(t *testing.T) {
	tree, tables := adult(t, 1_000_000)
	cells := 0
	for _, x := range tables {
		cells += len(x.Y)
	}
	most := 5*bytesPerCell*tree.Cells()/2 + 100*int64(cells)
	for _, sweeps := range []int{1, 40} {
		got := allocated(func() {
			if _, _, err := Fit(context.Background(), tree, 32561, tables, nil, Options{Sweeps: sweeps, Stop: 1e-9, Workers: 1}); err != nil {
				t.Fatal(err)
			}
		})
		if got > most {
			t.Errorf("%d sweeps over %d cells, %d of them measured, took %d bytes, must take at most %d", sweeps, tree.Cells(), cells, got, most)
		}
	}
}

// TestMemoryOfRows: rows take 2 bytes a value and 9 a row, and 12 bytes a cell of the
// largest clique for its places.
func TestMemoryOfRows(t *testing.T) {
	const rows = 1 << 20
	tree, tables := adult(t, 1_000_000)
	m, _, err := Fit(context.Background(), tree, 32561, tables, nil, Options{Sweeps: 1})
	if err != nil {
		t.Fatal(err)
	}
	largest := 0
	for _, n := range tree.nodes {
		largest = max(largest, n.cells)
	}
	most := int64(rows*(2*len(tree.dom)+9)) + int64(len(tree.nodes)*12*largest)
	if got := allocated(func() { m.Sample(rows, false, rand.New(rand.NewPCG(1, 2))) }); got > most {
		t.Errorf("%d rows of %d columns took %d bytes, must take at most %d", rows, len(tree.dom), got, most)
	}
}

const bytesPerCell = 8
