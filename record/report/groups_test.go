package report

import (
	"math"
	"strings"
	"testing"
)

// TestGroupsAreShown: each figure of a group stands in its row, the group that loses most is named among those with
// enough rows, and few rows are said to be few.
func TestGroupsAreShown(t *testing.T) {
	page := rendered(t, full())
	for _, want := range []string{
		`<li><a href="#groups">Groups</a></li>`,
		"Of groups with enough rows south &amp; &lt;west&gt; loses most beyond other real rows: its columns are 0.09 from " +
			"real rows on average, other real rows 0.03.",
		`<th scope="row">missing values <span class="dim of">few: 10 real and 0 synthetic rows</span></th>`,
		"<td class=\"n\">5\u202f000</td><td class=\"n\">71 %</td><td class=\"n\">70 %</td>" +
			`<td class="n">0.03</td><td class="n">0.02</td><td class="n">20 %</td><td class="n">25 %</td>` +
			`<td class="n">0.75 <span class="dim ends">(0.7 to 0.8)</span></td><td class="n">0.8 <span class="dim ends"></span></td>` +
			`<td class="note"><span class="ends">age 0.05 <span class="dim">(0.02)</span></span></td>`,
		"Fewer than 200 rows of either table are few",
		`aria-label="Bars of the mean total variation of the other columns within each group of region."`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	r := full()
	r.Groupings = nil
	if page := rendered(t, r); strings.Contains(page, "#groups") || strings.Contains(page, `id="groups"`) {
		t.Error("a page without groups has a section of them")
	}
}

// TestFurthestLeavesFewRowsOut: a group of few rows is never called the worst, and one group alone has none to be worse
// than.
func TestFurthestLeavesFewRowsOut(t *testing.T) {
	part := func(name string, rows int, variation float64) RowGroup {
		return RowGroup{Name: name, Real: rows, Synthetic: 1000, Variation: variation, VariationOther: math.NaN()}
	}
	g := Grouping{Parts: []RowGroup{part("a", 900, 0.1), part("b", 199, 0.9), part("c", 200, 0.2)}}
	const want = "Of groups with enough rows c is furthest from its real rows: by 0.2 on average."
	if got := g.Furthest(); got != want {
		t.Errorf("%q, must name c", got)
	}
	g.Parts = g.Parts[:2]
	if got := g.Furthest(); got != "" {
		t.Errorf("%q of one group with enough rows, must be empty", got)
	}
}
