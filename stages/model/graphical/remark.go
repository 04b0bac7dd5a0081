package graphical

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/stages/internal/columns"
	"weir/train/histogram"
)

// wideBounds is how many times as wide as the values that are told from noise bounds are that a remark names.
const wideBounds = 4

// mostWide is how many columns a remark names.
const mostWide = 3

// remarked says which columns have bounds far wider than the rows bear at this budget. It reads the released model
// alone (noisy counts, public bounds), so that it is post-processing of what was paid for.
func remarked(ctx context.Context, out pipeline.Tables) (string, error) {
	m, err := unfitted(ctx, out["model"])
	if err != nil {
		return "", err
	}
	var list []string
	for j, c := range m.core.Columns {
		if reach, wide := m.Columns[j].reach(m.grids[j]); wide {
			where := m.labels(j).of(reach)
			if strings.HasPrefix(where, "[") {
				where = "within " + where
			} else {
				where = "at " + where + " alone"
			}
			list = append(list, fmt.Sprintf("%s (declared %s to %s, rows stand out from noise %s)", c.Name,
				c.Show(c.Bounds[0]), c.Show(c.Bounds[1]), where))
		}
	}
	if len(list) == 0 {
		return "", nil
	}
	more := ""
	if len(list) > mostWide {
		more = fmt.Sprintf(" and %d more", len(list)-mostWide)
	}
	named := strings.Join(list[:min(mostWide, len(list))], ", ") + more
	return "bounds are far wider than the rows can bear at this budget: " + named + ". Noise hides which rows lie beyond; " +
		"narrower bounds, from public knowledge, make means and deviations better", nil
}

// reach returns the cells of a number from the first to the last leaf whose count stands on its own noise (a settled
// tail has no variance), and whether its bounds are much wider.
func (c *coded) reach(g columns.Grid) (reach group, wide bool) {
	own := func(l histogram.Leaf) bool { return l.Var > 0 && l.Count >= rare*math.Sqrt(l.Var) }
	first := slices.IndexFunc(c.Leaves, own)
	if g.Coded() || first < 0 {
		return reach, false
	}
	last := first
	for i, l := range c.Leaves {
		if own(l) {
			last = i
		}
	}
	reach = group{lo: c.Leaves[first].Lo, hi: c.Leaves[last].Hi}
	return reach, g.Values() > fewCells && wideBounds*(reach.hi-reach.lo) <= g.Values()
}
