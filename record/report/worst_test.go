package report

import (
	"strings"
	"testing"

	"weir/pipeline"
)

// withParts returns a stage with distances of pairs and broken rules.
func withParts() Group {
	return Group{Stage: "judge", Declared: pipeline.Figures{
		{Name: "tv2", Parts: "pair", Better: pipeline.BetterLow, Worst: true, Doc: "distance of pairs"},
		{Name: "broken_synthetic", Parts: "rule", Better: pipeline.BetterLow, Real: "broken_real",
			Doc: "share that breaks it"},
		{Name: "broken_real", Parts: "rule", Better: pipeline.BetterLow, Doc: "share of real rows"},
	}, Figures: []Figure{
		{Name: "tv2", Value: 0.2}, {Name: "tv2", Column: "a:b", Value: 0.1}, {Name: "tv2", Column: "a:c", Value: 0.3},
		{Name: "tv2", Column: "b:c"},
		{Name: "broken_synthetic", Column: "a <= b", Value: 0.25, Note: "1 of 4 rows"},
		{Name: "broken_real", Column: "a <= b", Value: 0.125},
		{Name: "broken_synthetic", Column: "c by a"},
	}}
}

// TestWorstParts: pairs from the worst on, without what lost nothing; rules that are broken, with counts.
func TestWorstParts(t *testing.T) {
	page := rendered(t, &Report{Groups: []Group{withParts()}})
	for _, want := range []string{
		`<tbody><tr><th scope="row">a:<wbr>c</th><td>distance of pairs</td><td class="n">0.3</td></tr><tr><th scope="row">a:<wbr>b</th><td>distance of pairs</td><td class="n">0.1</td></tr></tbody>`,
		`<tbody><tr><th scope="row">a &lt;= b</th><td class="n">0.25</td><td class="n">0.125</td><td class="note">share that breaks it: 1 of 4 rows</td></tr></tbody>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	whole := withParts()
	whole.Figures = whole.Figures[len(whole.Figures)-1:]
	if page := rendered(t, &Report{Groups: []Group{whole}}); !strings.Contains(page,
		"No synthetic row breaks a rule (1 tried)") {
		t.Error("the page does not say that no rule is broken")
	}
}

// TestSharesInTheTable: of two categories the second, else the commonest.
func TestSharesInTheTable(t *testing.T) {
	c := Column{Labels: []string{"no", "yes"}, Real: []float64{0.9, 0.1}, Synthetic: []float64{0.75, 0.25}}
	if c.ShareOf() != "yes" || c.MeanReal() != "10 %" || c.MeanSynthetic() != "25 %" {
		t.Errorf("%s: %s real, %s synthetic", c.ShareOf(), c.MeanReal(), c.MeanSynthetic())
	}
	c = Column{Labels: []string{"a", "b", "c"}, Real: []float64{0.2, 0.5, 0.3}}
	if c.ShareOf() != "b" || c.MeanReal() != "50 %" || c.MeanSynthetic() != "–" {
		t.Errorf("%s: %s real, %s synthetic", c.ShareOf(), c.MeanReal(), c.MeanSynthetic())
	}
}
