package graphical

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy/mechanism"
)

// TestRuleOfAuto: n mu below 8 for each column is independent, and the plan warns; from there on marginal_tree (the
// rule of docs/marginals.md, by hand: 13 columns at mu .26805 cross it between 387 and 389 rows; 36 need 1,075).
func TestRuleOfAuto(t *testing.T) {
	const mu = 0.26805
	for _, c := range []struct {
		rows    int64
		columns int
		kind    string
		warned  bool
	}{
		{100, 13, independentName, true}, {300, 13, independentName, true}, {387, 13, independentName, true},
		{389, 13, treeName, false}, {600, 13, treeName, false},
		{32561, 13, treeName, false}, {686, 36, independentName, true}, {0, 13, treeName, false},
		{10, 1, independentName, false},
	} {
		in := pipelinetest.Input{Header: header(yesNo(c.columns), int(c.rows))}
		d := decided(t, &Auto{Aim: Aim{TargetWeight: 2}, Size: Size{40}}, in.Header, 2/mu)
		unknown := c.rows == 0 // then a note says from how many on
		few := d.found("W39")
		if d.kind() != c.kind || (len(few) == 1) != (c.warned || unknown) || unknown && few[0].Level != pipeline.LevelNote {
			t.Errorf("%d rows of %d columns: %s, findings %v, must be %s, warned: %v", c.rows, c.columns, d.kind(), d.Findings,
				c.kind, c.warned)
		}
		for _, other := range []pipeline.Kind{marginalTreeKind(), mstKind(), aimKind()} {
			if d := decided(t, other.New(), in.Header, 2/mu); (len(d.found("W39")) == 1) != c.warned {
				t.Errorf("%d rows of %d columns: %s has findings %v, warned must be %v", c.rows, c.columns, other.Name, d.Findings,
					c.warned)
			}
		}
	}
}

// TestColumnsGetLessWhereRowsAreMany: 1.4 (n mu/d)^(-1/6), from .35 to .8 (docs/marginals.md
// section 1): 600 rows of 13 columns are worth 12.4 each, whose root is 1.52; 9,000 have
// 185.6, 2.388; 32,561 have 671, 2.959; ten million 2e5, 7.7. Where rows are not public and
// not stated, half.
func TestColumnsGetLessWhereRowsAreMany(t *testing.T) {
	for rows, want := range map[int]string{300: "", 600: "0.8", 9_000: "0.59", 32_561: "0.47", 10_000_000: "0.35", 0: ""} {
		h := header(yesNo(13), rows)
		if got := decided(t, autoKind().New(), h, 2/0.26805).decidedOf("one_way"); got != want {
			t.Errorf("%d rows: one_way %q, must be %q", rows, got, want)
		}
		h.Rows = 0
		auto := autoKind().New().(*Auto)
		auto.Rows = int64(rows)
		if got := decided(t, auto, h, 2/0.26805).decidedOf("one_way"); got != want {
			t.Errorf("%d rows stated: one_way %q, must be %q", rows, got, want)
		}
	}
	s := marginalTreeKind().New().(*MarginalTree)
	if got := s.settled(facts{columns: 13, mu: 1}).OneWay; got != 0.5 {
		t.Errorf("one_way %g without known rows, must be .5", got)
	}
	s.Select = 0.9
	if got := s.settled(facts{rows: 1000, columns: 13, mu: 0.1}).OneWay; math.Abs(got-0.08) > 1e-12 {
		t.Errorf("one_way %g beside .9 to select, must be .8 of the rest", got)
	}
	s.OneWay = 0.02
	if got := s.settled(facts{rows: 1000, columns: 13, mu: 0.1}).OneWay; got != 0.02 {
		t.Errorf("one_way %g, must be .02 as is set", got)
	}
}

// TestAutoSaysWhy, in words that hold every number that it decided by.
func TestAutoSaysWhy(t *testing.T) {
	h := header(yesNo(13), 0)
	for _, c := range []struct {
		rows, stated int64
		scale        float64
		why          []string
	}{
		{100, 0, 2 / 0.268, []string{"n mu = 100 x 0.268 = 26.8", "below 8 for each of 13 columns, 104", "drown"}},
		{63000, 0, 2 / 0.268, []string{"n mu = 63000 x 0.268", "at least 8 for each of 13 columns, 104"}},
		{0, 50, 2 / 0.268, []string{"n mu = 50 x 0.268 = 13.4"}},
		{0, 0, 2 / 0.268, []string{"the number of rows is not public"}},
		{100, 0, 0, []string{"no noise"}},
	} {
		h.Rows = c.rows
		d := decided(t, &Auto{Aim: Aim{TargetWeight: 2}, Size: Size{40}, Rows: c.stated}, h, c.scale)
		for _, words := range c.why {
			if !strings.Contains(d.Decided[0].Why, words) {
				t.Errorf("%d rows, %d stated, at %g: %q lacks %q", c.rows, c.stated, c.scale, d.Decided[0].Why, words)
			}
		}
	}
}

// TestDrownedFlagsAreSaidBefore: one column of yes and no, under a multiplier of 20, is counted with noise of
// 20 sqrt(2)/2 = 14.14, three of which are 42.4 rows: more than 2 % of 2,000 rows and less of 2,200; two of
// it are 28.3. A tree of one column
// has `one_way` .8 or less of the budget for it, so that three deviations are 42.4/sqrt(.8) = 47.4 or more.
func TestDrownedFlagsAreSaidBefore(t *testing.T) {
	note := "in 1 of 1 columns of categories noise drowns a category of up to 43 of 2000 rows (2.1 %): such rows come " +
		"back together, " +
		"not one by one, and the sum over these columns is known to about 29 rows"
	for rows, message := range map[int]string{2000: note, 2200: ""} {
		found := decided(t, independentKind().New(), header(yesNo(1), rows), 20).found("W45")
		if (len(found) == 1) != (message != "") || message != "" && !strings.HasPrefix(found[0].Message, message) {
			t.Errorf("%d rows: findings %+v, must say %q", rows, found, message)
		}
	}
	s := marginalTreeKind().New().(*MarginalTree)
	s.OneWay = .8
	if found := decided(t, s, header(yesNo(1), 2200), 20).found("W45"); len(found) != 1 ||
		!strings.Contains(found[0].Message, "up to 48 of") {
		t.Errorf("a tree: findings %+v, must say 48 rows", found)
	}
	if found := decided(t, independentKind().New(), header(yesNo(1), 0), 20).found("W45"); len(found) != 0 {
		t.Errorf("findings %+v where no rows are public", found)
	}
}

// TestAutoSaysOnceHowManyRowsItTakes: the plan prints reasons and findings together, and the
// number of rows below which pairs drown is in the finding, which PRIVACY.md keeps.
func TestAutoSaysOnceHowManyRowsItTakes(t *testing.T) {
	d := decided(t, &Auto{Aim: Aim{TargetWeight: 2}, Size: Size{40}}, header(yesNo(13), 0), 2/0.268)
	// 8 x 13/0.268 = 388.06
	if len(d.Findings) != 1 || d.Findings[0].Rule != "W39" || !strings.HasPrefix(d.Findings[0].Message,
		"below 389 rows noise would drown") {
		t.Errorf("findings %+v", d.Findings)
	}
	if strings.Contains(d.Decided[0].Why, "389") || strings.Contains(d.Decided[0].Why, "drown") {
		t.Errorf("%q says what the finding says", d.Decided[0].Why)
	}
}

// TestAutoRunsWhatItPlans: at noise on either side of the border, with rows that are
// public, stated or neither, what is released is what the plan says, bit for bit what
// that kind releases itself.
func TestAutoRunsWhatItPlans(t *testing.T) {
	stated := private(ward(60))
	for name, in := range map[string]pipelinetest.Input{"public": ward(60), "stated": stated} {
		seen := map[string]bool{}
		border := 60. / 56 / border(in.Header)
		for _, scale := range []float64{border * (1 - 1e-9), border * (1 + 1e-9), 0.1, 30} {
			auto := autoKind().New().(*Auto)
			auto.Target = "smoker"
			if name == "stated" {
				auto.Rows = 60
			}
			d := decided(t, auto, in.Header, scale)
			kind := d.kind()
			seen[kind+d.decidedOf("one_way")] = true
			got := modelOf(t, auto, in, scale)
			if released := coverOf(t, got); released != kind {
				t.Errorf("%s, at %g: a model of kind %s was released, planned is %s", name, scale, released, kind)
			}
			tree := marginalTreeKind().New().(*MarginalTree)
			tree.Target = "smoker"
			if part := d.decidedOf("one_way"); part != "" {
				must(t, json.Unmarshal([]byte(part), &tree.OneWay))
			}
			own := map[string]pipeline.Stage{treeName: tree, independentName: independentKind().New()}[kind]
			if fingerprint(t, got) != fingerprint(t, modelOf(t, own, in, scale)) {
				t.Errorf("%s, at %g: auto releases something else than %s", name, scale, kind)
			}
		}
		if len(seen) != 3 {
			t.Errorf("%s: only %v were taken, must be both kinds, and marginal_tree in two ways", name, seen)
		}
	}
}

// TestAutoMeasuresFixedSets: where auto takes marginal_tree it releases what that kind does with the same sets, to the
// bit, public rows or stated ones, and spends all of the budget; plan and bill say the sets. Where noise has it take
// independent, which measures no sets, the plan is refused, from the same border on.
func TestAutoMeasuresFixedSets(t *testing.T) {
	for name, in := range map[string]pipelinetest.Input{"public": ward(60), "stated": private(ward(60))} {
		border := 60. / 56 / border(in.Header)
		auto := slim(autoKind())().(*Auto)
		auto.Sets, auto.Bins = measuring().Sets, 4
		if name == "stated" {
			auto.Rows = 60
		}
		for scale, refused := range map[float64]bool{0: false, .1: false, border * (1 - 1e-9): false,
			border * (1 + 1e-9): true, 30: true} {
			d := decided(t, auto, in.Header, scale)
			if got := len(d.Refused) == 1 && d.Refused[0].Path == "measure" && d.kind() == independentName; got != refused {
				t.Errorf("%s, at %g: refused %v of %s, must be %v", name, scale, d.Refused, d.kind(), refused)
			}
		}
		d := decided(t, auto, in.Header, .1)
		if d.decidedOf("measure[0]") == "" || d.decidedOf("measure[1]") == "" || !slices.ContainsFunc(d.Decided,
			func(x pipeline.Decided) bool { return strings.HasSuffix(x.Why, "of the 0.7 that measure leaves") }) {
			t.Errorf("%s: the plan says %+v, must say the noise of each set, and what is left for columns", name, d.Decided)
		}
		work, err := auto.Plan(headers(in))
		must(t, err)
		if doc := work.Spends[0].Doc; !strings.Contains(doc, "the sets of measure") {
			t.Errorf("the bill says %q, must say the sets", doc)
		}
		tree := measuring()
		must(t, json.Unmarshal([]byte(d.decidedOf("one_way")), &tree.OneWay))
		single, left := attempt{stage: auto, in: in, multiplier: .1, key: 1}.run(t)
		if !(left <= 1e-9) {
			t.Errorf("%s: %.3g of the total is left", name, left)
		}
		if fingerprint(t, single) != fingerprint(t, modelOf(t, tree, in, .1)) {
			t.Errorf("%s: auto releases something else than marginal_tree", name)
		}
	}
	auto := autoKind().New().(*Auto)
	auto.Measure = []Fixed{{Columns: []string{"smoker", "nobody"}, Part: .2}}
	if _, err := auto.Plan(headers(ward(60))); err == nil || !strings.Contains(err.Error(), "measure[0].columns") {
		t.Errorf("%v, must refuse a set that the table lacks", err)
	}
}

// border returns what the noise multiplier is over 1/mu.
func border(h pipeline.Header) float64 {
	return 1 / math.Sqrt(mechanism.GaussianFilter{NoiseMultiplier: 1, Adjacency: h.Terms.Adjacency}.Total())
}

// TestNothingPrivateDecides is an attack: tables of one header whose rows are few,
// many, all alike, and whose own header claims another count. All get the kind that
// the plan says. A kind that went by rows would tell them apart.
func TestNothingPrivateDecides(t *testing.T) {
	for _, stated := range []int64{0, 2, 1_000_000} {
		planned := map[string]string{}
		for name, in := range tables() {
			h := private(ward(60)).Header
			auto := &Auto{Aim: Aim{TargetWeight: 2}, Size: Size{40}, Rows: stated}
			planned[name] = decided(t, auto, h, 0.4).kind()
			kind := coverOf(t, planThenRead(t, auto, h, in, 0.4))
			if want := map[bool]string{true: independentName, false: treeName}[stated == 2]; kind != want ||
				planned[name] != want {
				t.Errorf("%s, %d rows stated: planned %s, released %s, must be %s", name, stated, planned[name], kind, want)
			}
		}
	}
}

// tables returns of one domain.
func tables() map[string]pipelinetest.Input {
	claims := private(ward(60))
	claims.Header.Rows = 3 // what the rows say of themselves when they come
	alike := private(ward(60))
	var columns [][]any
	for _, v := range []any{20, 0, 60.5, 0.25, "north", "no", 18000} {
		columns = append(columns, slices.Repeat([]any{v}, 500))
	}
	alike.Rows = pipelinetest.Rows(alike.Header.Domain, columns...)
	return map[string]pipelinetest.Input{"few": private(ward(1)), "many": private(ward(3000)), "alike": alike,
		"claims": claims, "none": private(ward(0))}
}

// planThenRead plans from one header and runs on a table with another.
func planThenRead(t *testing.T, s pipeline.Stage, h pipeline.Header, in pipelinetest.Input,
	scale float64) pipeline.Table {
	t.Helper()
	return modelOf(t, planned{s, h}, in, scale)
}

type planned struct {
	pipeline.Stage
	from pipeline.Header
}

func (p planned) Plan(pipeline.Headers) (pipeline.Work, error) {
	return p.Stage.Plan(pipeline.Headers{"in": p.from})
}

// TestOpenSettingsAreThoseOfTheRun: bins and shares that the plan prints
// give the same release when they are written out.
func TestOpenSettingsAreThoseOfTheRun(t *testing.T) {
	in := ward(900)
	for _, scale := range []float64{0.05, 3} {
		open, written := marginalTreeKind().New().(*MarginalTree), marginalTreeKind().New().(*MarginalTree)
		d := decided(t, open, in.Header, scale).Decided
		must(t, json.Unmarshal([]byte(d[0].Value), &written.Bins))
		must(t, json.Unmarshal([]byte(d[1].Value), &written.OneWay))
		must(t, json.Unmarshal([]byte(d[2].Value), &written.Select))
		if fingerprint(t, modelOf(t, open, in, scale)) != fingerprint(t, modelOf(t, written, in, scale)) {
			t.Errorf("at %g the plan says %v, which is another run", scale, d)
		}
	}
	// P/(.01 n mu)^2 and max(2.2 q^(-1/3), 1.4) (n mu)^(1/4) of docs/marginals.md section 1: 21 pairs, 900 rows, mu 2.5.
	if d := decided(t, marginalTreeKind().New(), in.Header, 0.8).Decided; d[0].Value != "10" || d[1].Value != "0.53" ||
		d[2].Value != "0.04148" {
		t.Errorf("decided %v, must be 10 bins, .53 for columns, and .04148 to select pairs", d)
	}
	if d := decided(t, marginalTreeKind().New(), private(in).Header, 1); len(d.Decided) != 0 {
		t.Errorf("decided %v of a table whose rows are private", d.Decided)
	}
}

type decision struct{ pipeline.Decision }

func (d decision) kind() string { return d.decidedOf("kind") }

// found returns the findings of a rule.
func (d decision) found(rule string) (list []pipeline.Finding) {
	for _, f := range d.Findings {
		if f.Rule == rule {
			list = append(list, f)
		}
	}
	return list
}

// decidedOf returns what is decided of a setting; "" where that is left alone.
func (d decision) decidedOf(setting string) string {
	for _, x := range d.Decided {
		if x.Setting == setting {
			return x.Value
		}
	}
	return ""
}

func decided(t *testing.T, s pipeline.Stage, h pipeline.Header, scale float64) decision {
	t.Helper()
	w, err := s.Plan(pipeline.Headers{"in": h})
	must(t, err)
	return decision{w.Decide(scale)}
}

// modelOf returns what a stage releases.
func modelOf(t *testing.T, s pipeline.Stage, in pipelinetest.Input, scale float64) pipeline.Table {
	t.Helper()
	out, _ := attempt{stage: s, in: in, multiplier: scale, key: 1}.run(t)
	return out
}

// yesNo returns a domain of so many columns.
func yesNo(columns int) *domain.Domain {
	d := &domain.Domain{}
	for i := range columns {
		d.Columns = append(d.Columns, domain.Column{Name: fmt.Sprint("c", i), Type: domain.Boolean, Categories: []string{"no",
			"yes"}})
	}
	return d
}

// coverOf returns the kind that a released model says it is of.
func coverOf(t *testing.T, table pipeline.Table) string {
	t.Helper()
	files, err := pipeline.ReadFiles(context.Background(), table)
	must(t, err)
	var description struct{ Kind string }
	for _, f := range files {
		if f.Name == "artifact.json" {
			must(t, json.Unmarshal(f.Data, &description))
		}
	}
	return description.Kind
}
