package histogram

import "math"

// Merge puts neighbouring leaves together to bins of about rows/bins rows, from the
// left: each bin is a range [from, to) of leaves, and all leaves are in one. A leaf of
// a single cell whose count is more than half of that and at least 4 standard
// deviations of its noise stands alone:
// it is a heap of its own (0 of a capital gain). What is left before such a leaf or at
// the end, and is less than half a bin, joins the bin before unless that stands alone.
// There is one bin where rows or bins is not positive.
func Merge(leaves []Leaf, rows float64, bins int) [][2]int {
	want := rows / float64(bins)
	if bins <= 0 || !(rows > 0) {
		want = math.Inf(1)
	}
	m := merger{want: want}
	for i, l := range leaves {
		if l.Hi-l.Lo == 1 && l.Count > want/2 && l.Count >= 4*l.sd() {
			m.end(i, m.rows < want/2)
			m.end(i+1, false)
			m.alone = true
			continue
		}
		if m.rows += l.Count; m.rows >= want {
			m.end(i+1, false)
		}
	}
	m.end(len(leaves), m.rows < want/2)
	return m.bins
}

// merger is the bins so far, and the one that is being filled.
type merger struct {
	want  float64
	bins  [][2]int
	from  int     // first leaf of the bin being filled
	rows  float64 // in it
	alone bool    // the last of bins is one leaf that stands alone
}

// end ends the bin being filled before leaf `to`; a small one joins the bin before.
func (m *merger) end(end int, small bool) {
	if m.from == end {
		return
	}
	if small && len(m.bins) > 0 && !m.alone {
		m.bins[len(m.bins)-1][1] = end
	} else {
		m.bins = append(m.bins, [2]int{m.from, end})
		m.alone = false
	}
	m.from, m.rows = end, 0
}
