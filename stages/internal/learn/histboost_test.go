package learn

import (
	"testing"
)

// TestBinsOfWideBlocks: a block of more columns than a byte has values takes several groups; each column
// keeps a bin of its own, and the rows without a 1 there share the last.
func TestBinsOfWideBlocks(t *testing.T) {
	x, _ := mixed(3000, 2, 600, 8)
	b, d := bin(x, 2), x.Dense()
	seen := 0
	for _, tile := range b.tiles {
		for k, g := range tile.groups {
			for j := range g.width {
				seen++
				for i := range x.Rows {
					if in := int(tile.codes[i*len(tile.groups)+k]) == j; in != (d.Cols[g.column+j][i] == 1) {
						t.Fatalf("row %d of column %d: in its bin is %v", i, g.column+j, in)
					}
				}
			}
		}
	}
	if want := 5 + 1 + 600; seen != want || b.bins < want {
		t.Errorf("%d columns of blocks have a bin, want %d", seen, want)
	}
}
