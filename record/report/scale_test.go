package report

import (
	"math"
	"strings"
	"testing"
)

// figuresOf returns figures about whole tables, as name and value by turns.
func figuresOf(list ...any) (figures []Figure) {
	for i := 0; i < len(list); i += 2 {
		figures = append(figures, Figure{Name: list[i].(string), Value: list[i+1].(float64)})
	}
	return figures
}

func judged(t *testing.T, kind string, figures []Figure) verdict {
	t.Helper()
	list := (&Report{Groups: []Group{{Stage: "s", Kind: kind, Declared: declared(kind), Figures: figures}}}).verdicts()
	if len(list) == 0 {
		t.Fatal("no verdict")
	}
	return list[0]
}

// TestWorseThanIndependentColumns: what is worse than independent columns at the same
// epsilon is lost, however far it is on the way or below the page's own bounds.
func TestWorseThanIndependentColumns(t *testing.T) {
	const worse = "worse than independent columns at the same epsilon"
	for _, c := range []struct {
		name, kind string
		in         []Figure
		word, why  string
	}{
		// 0.09 is below the bound of 0.1 for pairs, and (0.09-0.2)/(0.02-0.2) = 61 % of the way from independent columns
		// without noise.
		{"pairs", "marginals", figuresOf("total_variation_2way", .09, "total_variation_2way_real_train", .02,
			"total_variation_2way_independent", .2, "total_variation_2way_baseline", .08), lost, worse},
		{"pairs, better", "marginals", figuresOf("total_variation_2way", .04, "total_variation_2way_real_train", .03,
			"total_variation_2way_baseline", .09), partly, "83 % of the way from independent columns at the same epsilon to " +
			"other real rows"},
		{"nothing but the baseline", "marginals", figuresOf("total_variation_3way", .14, "total_variation_3way_baseline",
			.13), lost, worse},
		{"the same by chance", "marginals", figuresOf("total_variation_2way", .0402, "total_variation_2way_real_train", .035,
			"total_variation_2way_baseline", .04), kept, "up to 0.1"},
		{"associations", "associations", figuresOf("mixed_mean_absolute_difference", .02,
			"mixed_mean_absolute_difference_baseline", .01), lost, worse},
		// Independent columns spend everything on single columns, so that a table that is near there is not lost.
		{"single columns, near", "marginals", figuresOf("total_variation", .013, "total_variation_real_train", .009,
			"total_variation_baseline", .011), kept, "up to 0.05"},
		{"single columns, far", "marginals", figuresOf("total_variation", .06, "total_variation_real_train", .009,
			"total_variation_baseline", .011), lost, worse},
		{"without noise", "marginals", figuresOf("total_variation_2way", .42, "total_variation_2way_independent", .3,
			"total_variation_2way_real_train", .03), lost, "worse than independent columns without noise"},
		// The AUROC of independent columns is luck: a score is worse with its whole interval or not at all.
		{"a score", "downstream", figuresOf("auroc", .58, "auroc_low", .57, "auroc_high", .59, "auroc_real_train", .9,
			"auroc_baseline", .6), lost, worse},
		{"a score within its interval", "downstream", figuresOf("auroc", .89, "auroc_low", .87, "auroc_high", .91,
			"auroc_real_train", .9, "auroc_baseline", .9), kept, "97 % of the way from chance"},
		// (0.78-0.76)/(0.85-0.76) = 22 %: beside 0.85 alone 0.07 less would be partly kept.
		{"hardly better than the commonest class", "downstream", figuresOf("accuracy", .78, "accuracy_real_train",
			.85, "accuracy_majority", .76), lost,
			"22 % of the way from always guessing the commonest class to what real rows teach"},
		{"worse than always guessing the commonest class", "downstream", figuresOf("accuracy", .7,
			"accuracy_real_train", .85, "accuracy_majority", .76), lost,
			"worse than always guessing the commonest class"},
		// 0.9-0.91 = -0.01: no commonest class is known, so that the page's own bounds word it.
		{"above real rows", "downstream", figuresOf("accuracy", .91, "accuracy_real_train", .9), kept,
			"0.01 above what real rows teach"},
		{"below real rows", "downstream", figuresOf("accuracy", .85, "accuracy_real_train", .9), partly,
			"0.05 below what real rows teach"},
		// Other real rows are beyond 0.15: up to 0.4 + 0.3 = 0.7 chance may have done it, and no further.
		{"lost whatever chance did", "marginals", figuresOf("total_variation_3way", .701, "total_variation_3way_real_train",
			.3), lost,
			"further than 0.4, up to which is partly kept, and the 0.3 that other real rows differ together"},
		{"perhaps lost", "marginals", figuresOf("total_variation_3way", .699, "total_variation_3way_real_train", .3), open,
			"would be chance"},
		{"in doubt", "downstream", figuresOf("auroc", .87, "auroc_low", .85, "auroc_high", .89, "auroc_real_train", .9), kept,
			"its interval reaches to partly kept"},
	} {
		if got := judged(t, c.kind, c.in); got.Word != c.word || !strings.Contains(got.Why, c.why) {
			t.Errorf("%s: %s (%s), must be %s (%s)", c.name, got.Word, got.Why, c.word, c.why)
		}
	}
}

// TestFewRowsHaveNoVerdict: neither by the counts of the stage nor by the counts of the page,
// but for an attack that succeeds beyond chance.
func TestFewRowsHaveNoVerdict(t *testing.T) {
	rows := func(table string, n float64) Figure { return Figure{Name: "rows", Column: table, Value: n} }
	perfect := figuresOf("auroc", .9, "auroc_real_train", .9)
	for n, want := range map[float64]string{199: open, 200: kept} {
		for _, table := range []string{"real", "synthetic", "real_train"} {
			if got := judged(t, "downstream", append(perfect, rows("real", 1e4), rows(table, n))); got.Word != want ||
				want == open && got.Why != table+" has 199 rows, a verdict needs 200" {
				t.Errorf("%g rows of %s: %+v, must be %s", n, table, got, want)
			}
		}
	}
	r := &Report{Groups: []Group{{Kind: "downstream", Declared: declared("downstream"), Figures: perfect}},
		Tables: &Tables{RealRows: 5000, SyntheticRows: 20, Real: "split.test", Synthetic: "sample"}}
	if got := r.verdicts()[0]; got.Word != open || got.Why != "sample has 20 rows, a verdict needs 200" {
		t.Errorf("20 synthetic rows: %+v", got)
	}
	for _, c := range []struct {
		low  float64
		word string
	}{{.45, open}, {.6, leak}} {
		got := judged(t, "disclosure", append(figuresOf("membership_auroc", .7, "membership_auroc_low", c.low,
			"membership_auroc_high", .8), rows("real", 50)))
		if got.Word != c.word {
			t.Errorf("an attack with the lower end %g: %+v, must be %s", c.low, got, c.word)
		}
	}
}

// TestIntervalsStandBesideFigures, and not as rows of their own.
func TestIntervalsStandBesideFigures(t *testing.T) {
	g := Group{Declared: declared("downstream"), Figures: append(figuresOf("auroc", .8, "auroc_low", .7, "auroc_high",
		.9, "humidity_low", .1), Figure{Name: "auroc", Column: "mlp", Value: .8},
		Figure{Name: "auroc_low", Column: "mlp", Value: .75}, Figure{Name: "auroc_high", Column: "mlp", Value: .85})}
	rows := g.table(0, Privacy{}).Rows
	if len(rows) != 3 || rows[0].Interval != "0.7 to 0.9" || rows[1].Name != "humidity_low" ||
		rows[2].Interval != "0.75 to 0.85" {
		t.Errorf("rows %+v", rows)
	}
}

// TestOneTotalVariation: list, table and caption of a page show one number of a column.
func TestOneTotalVariation(t *testing.T) {
	r := full()
	r.Columns[0].TotalVariation = 0.6677
	page := rendered(t, r)
	for _, want := range []string{`<span class="name">age</span><span class="amount">0.6677</span>`,
		`<th scope="row">age</th><td>integer</td><td class="n">0.6677</td>`, "Age in years. Total variation 0.6677."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestNoFloorsAndCeilings: a floor that is worse because it is larger is a riddle.
func TestNoFloorsAndCeilings(t *testing.T) {
	page := strings.ToLower(rendered(t, full()))
	for _, word := range []string{"floor", "ceiling"} {
		if strings.Contains(page, word) {
			t.Errorf("the page says %s", word)
		}
	}
}

// TestRealRowsAreNotLost: triples of a table of 1,234 test rows, 0.394 from other real rows
// and 0.428 from synthetic ones, once were lost by bounds that real rows do not keep.
func TestRealRowsAreNotLost(t *testing.T) {
	d, _, _ := declared("marginals").Find("total_variation_3way")
	m := measure{d, *d.Verdict}
	for _, c := range []struct {
		value, real, baseline float64
		want                  string
	}{
		{0.428, 0.394, 0.476, open}, {0.5, 0.394, 0.476, lost}, // worse than independent columns
		{0.14, 0.1, 0.16, kept}, {0.428, math.NaN(), math.NaN(), lost},
	} {
		s := scale{best: c.real, worst: c.baseline, baseline: c.baseline, low: math.NaN(), high: math.NaN()}
		if got, why := m.word(c.value, s); got != c.want {
			t.Errorf("%v is %s (%s), must be %s", c, got, why, c.want)
		}
	}
}
