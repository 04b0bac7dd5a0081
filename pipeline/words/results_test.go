package words

import (
	"fmt"
	"testing"

	"weir/pipeline"
)

// withIntervals declares figures of a stage that have intervals.
func withIntervals(stage string, names ...string) pipeline.StageFigures {
	var list pipeline.Figures
	for _, name := range names {
		list = append(list, pipeline.Figure{Name: name, Parts: "part", Interval: true})
	}
	return pipeline.StageFigures{stage: list}
}

// TestSpread: the verdict of one figure, from its intervals, its repeats or nothing.
// Quantiles of Student's t at 97.5 % are 12.706 for one degree of freedom and 4.303 for
// two (any table).
func TestSpread(t *testing.T) {
	values := func(v ...float64) (all []map[string]float64) {
		for _, x := range v {
			all = append(all, map[string]float64{"u.f": x})
		}
		return all
	}
	figuresOf := func(v, low, high float64) map[string]float64 {
		return map[string]float64{"u.f": v, "u.f_low": low, "u.f_high": high}
	}
	one := func(v float64) map[string]float64 { return map[string]float64{"u.f": v} }
	for name, c := range map[string]struct {
		a, b            Figures
		verdict, spread string
	}{
		"equal":         {Figures{Values: one(1)}, Figures{Values: one(1)}, Unchanged, ""},
		"nothing known": {Figures{Values: one(1)}, Figures{Values: one(2)}, NoSpread, ""},
		"in one alone":  {Figures{Values: map[string]float64{}}, Figures{Values: one(2)}, OneSide, ""},
		"intervals meet": {Figures{Values: figuresOf(1, 0, 2)}, Figures{Values: figuresOf(3, 2, 4)}, Within,
			"intervals meet"},
		"intervals apart": {Figures{Values: figuresOf(1, 0, 2)}, Figures{Values: figuresOf(3, 2.1, 4)}, Beyond,
			"intervals apart"},
		"apart downwards": {Figures{Values: figuresOf(3, 2.1, 4)}, Figures{Values: figuresOf(1, 0, 2)}, Beyond,
			"intervals apart"},
		"one interval": {Figures{Values: figuresOf(1, 0, 2)}, Figures{Values: one(2)}, Within, "intervals meet"},
		"intervals first": {Figures{Cell: "a", Values: figuresOf(1, 0, 2), Repeats: values(1, 1.001, 1.002)},
			Figures{Cell: "b", Values: figuresOf(2, 1, 3), Repeats: values(2, 2.001, 2.002)}, Within, "intervals meet"},
		"one repeat": {Figures{Cell: "a", Values: one(1), Repeats: values(1)}, Figures{Cell: "b", Values: one(2),
			Repeats: values(2)}, NoSpread, ""},
		// Variance 0.02 of (1, 1.2): 12.706 sqrt(0.04) = 2.5412.
		"two repeats of one, within": {Figures{Cell: "a", Values: one(1), Repeats: values(1, 1.2)},
			Figures{Cell: "b", Values: one(3.54), Repeats: values(3.54)}, Within, "2 repeats"},
		"two repeats of one, beyond": {Figures{Cell: "a", Values: one(1), Repeats: values(1, 1.2)},
			Figures{Cell: "b", Values: one(3.55), Repeats: values(3.55)}, Beyond, "2 repeats"},
		"of the other": {Figures{Cell: "b", Values: one(3.55), Repeats: values(3.55)},
			Figures{Cell: "a", Values: one(1), Repeats: values(1, 1.2)}, Beyond, "2 repeats"},
		// Two cells of equal variance and size: 2 degrees of freedom, 4.303 sqrt(0.04) = 0.8606.
		"both, within": {Figures{Cell: "a", Values: one(1), Repeats: values(1, 1.2)}, Figures{Cell: "b", Values: one(1.86),
			Repeats: values(1.86, 1.66)}, Within, "2 and 2 repeats"},
		"both, beyond": {Figures{Cell: "a", Values: one(1), Repeats: values(1, 1.2)}, Figures{Cell: "b", Values: one(1.87),
			Repeats: values(1.87, 1.67)}, Beyond, "2 and 2 repeats"},
		// The same repeats on both sides are counted once: one degree of freedom.
		"one cell": {Figures{Cell: "a", Values: one(1), Repeats: values(1, 1.2)}, Figures{Cell: "a", Values: one(1.2),
			Repeats: values(1, 1.2)}, Within, "2 repeats"},
		"no variance": {Figures{Cell: "a", Values: one(1), Repeats: values(.1, .1, .1, .1, .1, .1)},
			Figures{Cell: "b", Values: one(2), Repeats: values(2, 2)}, NoSpread, "6 and 2 repeats, each alike"},
		// Variance 0 of (2, 2) and 0.02 of (1, 1.2): one degree of freedom, 12.706 sqrt(0.02) = 1.7969.
		"one varies": {Figures{Cell: "a", Values: one(1), Repeats: values(1, 1.2)}, Figures{Cell: "b", Values: one(2.8),
			Repeats: values(2.8, 2.8)}, Beyond, "2 and 2 repeats"},
	} {
		c.a.Declared, c.b.Declared = withIntervals("u", "f"), withIntervals("u", "f")
		all := figures(c.a, c.b)
		if len(all) != 1 || all[0].Verdict != c.verdict || all[0].Spread != c.spread {
			t.Errorf("%s: %+v, must be %s (%s)", name, all, c.verdict, c.spread)
		}
	}
}

// TestIntervalOfAColumn: the ends stand before the column's name, and are no figures.
func TestIntervalOfAColumn(t *testing.T) {
	v := map[string]float64{"u.score.tree.x": 1, "u.score_low.tree.x": 0, "u.score_high.tree.x": 2, "u.high": 3,
		"u.pass_low": 4}
	f := Figures{Values: v, Declared: withIntervals("u", "score", "humidity")}
	all := figures(f, f)
	if len(all) != 3 || all[0].Name != "u.high" || all[1].Name != "u.pass_low" || all[2].BeforeI == nil ||
		*all[2].BeforeI != [2]float64{0, 2} {
		t.Errorf("%+v", all)
	}
}

// TestLedgers: which lines only one side has, by what a merge does not change.
func TestLedgers(t *testing.T) {
	line := func(id, hash string) Charge { return Charge{Identity: id, Hash: hash} }
	a, b, c, moved := line("1", "1"), line("2", "2"), line("3", "3"), line("2", "2'")
	for name, x := range map[string]struct {
		a, b         []Charge
		onlyA, onlyB int
		relation     string
		differ       bool
	}{
		"equal":      {[]Charge{a, b}, []Charge{a, b}, 0, 0, same, false},
		"both empty": {nil, nil, 0, 0, same, false},
		"longer":     {[]Charge{a}, []Charge{a, b}, 0, 1, "B goes on after line 1, the last of A", true},
		"shorter":    {[]Charge{a, b}, []Charge{a}, 1, 0, "A goes on after line 1, the last of B: B lacks charges", true},
		"fork": {[]Charge{a, b}, []Charge{a, c}, 1, 1, "forked after line 1: each holds charges that the other " +
			"lacks; weir ledger merge A B joins them", true},
		"merged": {[]Charge{a, b}, []Charge{a, c, moved}, 0, 1,
			"B holds every charge of A, moved by a merge after line 1", true},
		"unmerged": {[]Charge{a, c, moved}, []Charge{a, b}, 1, 0,
			"A holds every charge of B, moved by a merge after line 1", true},
	} {
		r, err := Compare(Side{Kind: LedgerSide, Charges: &Charges{Dataset: "d", Lines: x.a}},
			Side{Kind: LedgerSide, Charges: &Charges{Dataset: "d", Lines: x.b}})
		if err != nil || len(r.Ledger.OnlyA) != x.onlyA || len(r.Ledger.OnlyB) != x.onlyB ||
			r.Ledger.Relation != x.relation || r.Differ != x.differ {
			t.Errorf("%s: %+v, %v", name, r.Ledger, err)
		}
	}
	m := ledgers(Charges{Dataset: "d", Lines: []Charge{a}}, Charges{Dataset: "e", Lines: []Charge{b}})
	if m.Relation != "of two datasets, d and e" {
		t.Errorf("two datasets are %q", m.Relation)
	}
}

// TestVarying: of three specs the settings that differ, with a stage that one alone has as one setting, and columns by
// their names. What all say is not told; one that cannot be read has nothing.
func TestVarying(t *testing.T) {
	spec := func(epsilon, bins, stage, bounds string) []byte {
		return []byte(fmt.Sprintf("weir: 1\nname: a\ndataset:\n  domain:\n    columns:\n      - {name: age, bounds: %s}\n  "+
			"    - {name: sex}\n"+
			"privacy: {epsilon: %s}\nstages:\n  train: {kind: mst, bins: %s}\n%s", bounds, epsilon, bins, stage))
	}
	got := Varying([][]byte{spec("1", "8", "", "[0, 90]"), spec("1.0", "16", "  more: {kind: marginals, real: x}\n",
		"[0, 90]"),
		[]byte("{"), spec("1", "8", "", "[0, 99]")})
	want := "[[{dataset.domain.columns.age.bounds [0, 90]} {train.bins 8} {more -}] " +
		"[{dataset.domain.columns.age.bounds [0, 90]} {train.bins 16} {more marginals}] [] " +
		"[{dataset.domain.columns.age.bounds [0, 99]} {train.bins 8} {more -}]]"
	if fmt.Sprint(got) != want {
		t.Errorf("specs differ in\n%v, must be\n%v", got, want)
	}
	of := append(spec("1", "8", "", "[0, 90]"), "experiment: {grid: {privacy.epsilon: [1, 2]}}\n"...)
	if got := Varying([][]byte{of, spec("2", "8", "", "[0, 90]")}); fmt.Sprint(got) !=
		"[[{privacy.epsilon 1}] [{privacy.epsilon 2}]]" {
		t.Errorf("a run of an experiment differs from one of none in %v", got)
	}
	if got := Varying([][]byte{spec("1", "8", "", "[0, 90]")}); len(got) != 1 || got[0] != nil {
		t.Errorf("one spec differs in %v", got)
	}
}
