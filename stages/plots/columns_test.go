package plots

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/record/report"
	"weir/stages/evaluate"
)

// people returns rows of the wards whose region and smoker are given, "" for a missing value, and whose other columns
// are constant.
func people(rows ...[2]string) pipelinetest.Input {
	columns := make([][]any, 6)
	for _, r := range rows {
		for i, v := range []any{40, 120.0, 70.0, r[0], r[1], "p"} {
			if v == "" {
				v = nil
			}
			columns[i] = append(columns[i], v)
		}
	}
	return pipelinetest.WardInput(pipelinetest.Rows(pipelinetest.WardDomain(), columns...), pipeline.Private)
}

// grouped returns the groups of region, by hand-made scores of the real rows that have a target, in their order.
func grouped(t *testing.T, scores []float64, in map[string]pipelinetest.Input) report.Grouping {
	t.Helper()
	frames, err := evaluate.Read(t.Context(), pipelinetest.Tables(in))
	if err != nil {
		t.Fatal(err)
	}
	smoker, extended := frames["real"].Column("smoker"), []int(nil)
	p := predictions{scores: scores}
	for i, v := range smoker.Codes {
		if v >= 0 {
			extended, p.positive = append(extended, i), append(p.positive, v == 1)
		}
	}
	p.test = frames["real"].Take(extended)
	page := &report.Report{}
	s := &settings{Target: "smoker", Groups: []string{"region"}}
	learnt := map[string]predictions{"synthetic": p}
	if err := s.drawGroups(t.Context(), pipelinetest.Env(1), frames, learnt, page); err != nil {
		t.Fatal(err)
	}
	return page.Groupings[0]
}

// TestGroups: shares, distances, prevalences and scores of each group are the ones counted by hand. In the north 2
// of 4 real rows smoke and 1 of 4 synthetic ones, so one of the four other columns is .25 away; of the pairs of a
// smoker and another one there, .9 > .8, .9 > .1, .2 < .8, .2 > .1, three of four are in order. In the south nobody has
// the value that the real rows have. One real row has no region.
func TestGroups(t *testing.T) {
	y, n, smoker := [2]string{"north", "yes"}, [2]string{"north", "no"}, [2]string{"south", "yes"}
	g := grouped(t, []float64{0.9, 0.8, 0.2, 0.1, 0.5, 0.5, 0.5}, map[string]pipelinetest.Input{
		"real":       people(y, n, y, n, smoker, smoker, [2]string{"south", ""}, [2]string{"", "yes"}),
		"synthetic":  people(y, n, n, n, [2]string{"south", "no"}),
		"real_train": people(y, y, y, n, smoker),
	})
	type row struct {
		name                                              string
		real, synthetic                                   int
		share, other, mean, reached, smoke, smoking, area float64
	}
	nan := math.NaN()
	want := []row{
		{"north", 4, 4, .5, .8, .0625, .0625, .5, .25, .75}, {"south", 3, 1, .375, .2, .25, 1 / 12., 1, 0, nan},
		{"west", 0, 0, 0, 0, nan, nan, nan, nan, nan}, {"missing values", 1, 0, .125, 0, nan, nan, 1, nan, nan},
	}
	var got []row
	for _, p := range g.Parts {
		got = append(got, row{p.Name, p.Real, p.Synthetic, p.RealShare, p.SyntheticShare, p.Variation, p.VariationOther,
			p.PrevalenceReal, p.PrevalenceSynthetic, p.FromSynthetic.Value})
	}
	if a, b := fmt.Sprintf("%v", got), fmt.Sprintf("%v", want); a != b {
		t.Errorf("\n%s, must be\n%s", a, b)
	}
	if g.Column != "region" || g.Target != "smoker = yes" {
		t.Errorf("%s of %s, must be smoker = yes of region", g.Target, g.Column)
	}
	if l := g.Parts[1].Losses; len(l) != 4 || l[0].Column != "smoker" ||
		l[0].Value != 1 || math.Abs(l[0].Other-1/3.) > 1e-12 {
		t.Errorf("losses of the south are %v, must begin with smoker, 1 beside 1/3", l)
	}
}

// TestGroupsOfTheTarget: within a group of the target all rows have it or none, which is no finding.
func TestGroupsOfTheTarget(t *testing.T) {
	rows := people([2]string{"north", "yes"}, [2]string{"north", "no"})
	frames, err := evaluate.Read(t.Context(), pipelinetest.Tables(map[string]pipelinetest.Input{"real": rows,
		"synthetic": rows}))
	if err != nil {
		t.Fatal(err)
	}
	page := &report.Report{}
	s := &settings{Target: "smoker", Groups: []string{"smoker"}}
	if err := s.drawGroups(t.Context(), pipelinetest.Env(1), frames, nil, page); err != nil {
		t.Fatal(err)
	}
	if g := page.Groupings[0]; g.Target != "" || !math.IsNaN(g.Parts[0].PrevalenceReal) {
		t.Errorf("prevalence of %q is %g, must be left out", g.Target, g.Parts[0].PrevalenceReal)
	}
}

// TestGroupsMustFit: a column that a table lacks, numbers, encoded columns, many categories and groups without tables
// are refused, each at its place, all at once.
func TestGroupsMustFit(t *testing.T) {
	many := pipelinetest.WardDomain()
	for i := range 21 {
		many.Columns[3].Categories = append(many.Columns[3].Categories, fmt.Sprint("region ", i))
	}
	coded := pipelinetest.WardDomain()
	coded.Columns[3].Encoding = &domain.Encoding{Form: domain.OneHot, Width: 3}
	for _, c := range []struct {
		groups []string
		real   *domain.Domain
		want   []string
	}{
		{[]string{"regoin", "age"}, pipelinetest.WardDomain(), []string{"groups[0]", "did you mean region?",
			"groups[1]: is age, which is integer in real, must be a categorical, ordinal or boolean column"}},
		{[]string{"region"}, many, []string{
			"groups[0]: is region with 24 categories, must be a column of at most 20 categories"}},
		{[]string{"region"}, coded, []string{"region, which is categorical in real and encoded as numbers"}},
		{[]string{"region"}, nil, []string{"groups: is a list of columns without tables"}},
	} {
		in := pipeline.Headers{}
		if c.real != nil {
			in["real"] = pipeline.TableHeader(c.real, pipeline.Header{Class: pipeline.Private})
			in["synthetic"] = pipeline.TableHeader(pipelinetest.WardDomain(), pipeline.Header{Class: pipeline.Released})
		}
		_, err := (&settings{Groups: c.groups}).Plan(in)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %v, must say %q", c.groups, err, want)
			}
		}
	}
	released := pipelinetest.WardDomain() // categories that a stage of the run releases are counted when they are there
	released.Columns[3].Categories, released.Columns[3].Late = nil, true
	h := pipeline.TableHeader(released, pipeline.Header{Class: pipeline.Private})
	if _, err := (&settings{Groups: []string{"region"}}).Plan(pipeline.Headers{"real": h, "synthetic": h}); err != nil {
		t.Errorf("categories to be released: %v", err)
	}
}

// TestGroupsOfOddTables: whatever rows there are, the page has the groups or says why not.
func TestGroupsOfOddTables(t *testing.T) {
	some, none := pipelinetest.WardRows(1, 50), pipelinetest.WardRows(1, 0)
	for name, in := range map[string]map[string]pipelinetest.Input{
		"empty": pipelinetest.WardPorts(none, none, none), "empty synthetic": pipelinetest.WardPorts(some, none, nil),
		"missing": pipelinetest.WardPorts(pipelinetest.BlankWards(some, true), some, some),
	} {
		s := &settings{Groups: []string{"region", "smoker"}, Target: "smoker", Plots: 1, Rows: 5}
		page, _ := pageOf(t, s, pipelinetest.Env(1), in)
		if strings.Count(page, `aria-label="Table of groups of `) != 2 {
			t.Errorf("%s: the page lacks its groups", name)
		}
	}
}
