package ledger

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"weir/privacy"
)

// TestCapStandsInItsLines: a capped line names its cap, an uncapped one none; both read back.
func TestCapStandsInItsLines(t *testing.T) {
	m := filled(t, 1)
	l, _ := newLedger(m, dataset, ticking())
	limit := Cap{Epsilon: 3, Delta: 1e-5, Adjacency: privacy.AddRemove}
	if _, err := l.Append(&limit, charge("a", 0.1)); err != nil {
		t.Fatal(err)
	}
	limit.Epsilon = 4
	if _, err := l.Append(&limit, charge("b", 0.1)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(nil, charge("c", 0.1)); err != nil {
		t.Fatal(err)
	}
	entries, err := Parse(m.data)
	if err != nil || !strings.Contains(string(m.data), `"cap":{"epsilon":3,"delta":0.00001}`) {
		t.Fatalf("%v in %s", err, m.data)
	}
	last, line := LastCap(entries)
	if line != 3 || last.Epsilon != 4 || last.Delta != 1e-5 || last.Adjacency != privacy.AddRemove ||
		last.Filter != "rdp" {
		t.Errorf("the last cap is %+v in line %d", last, line)
	}
	for _, bad := range []CapTerms{{-1, 0.1}, {math.NaN(), 0.1}, {math.Inf(1), 0.1}, {1, 1}} {
		if (Entry{Filter: &Filter{Name: "basic"}, Cap: &bad}).validCap() == nil {
			t.Errorf("a line may state the cap %+v", bad)
		}
	}
	if (Entry{Cap: &CapTerms{1, 0.1}}).validCap() == nil {
		t.Error("a line may state a cap without a filter")
	}
}

func TestLooser(t *testing.T) {
	person := Unit{"patient", 4}
	before := Cap{Epsilon: 3, Delta: 1e-5, Adjacency: privacy.ReplaceOne, Unit: person}
	for name, c := range map[string]struct {
		now  Cap
		want bool
	}{
		"the same":    {before, false},
		"tighter":     {Cap{Epsilon: 2, Delta: 1e-6, Adjacency: privacy.ReplaceOne, Unit: person}, false},
		"fewer rows":  {Cap{Epsilon: 3, Delta: 1e-5, Adjacency: privacy.ReplaceOne, Unit: Unit{"patient", 2}}, false},
		"epsilon":     {Cap{Epsilon: 4, Delta: 1e-5, Adjacency: privacy.ReplaceOne, Unit: person}, true},
		"delta":       {Cap{Epsilon: 3, Delta: 1e-4, Adjacency: privacy.ReplaceOne, Unit: person}, true},
		"rows":        {Cap{Epsilon: 3, Delta: 1e-5, Adjacency: privacy.ReplaceOne}, true},
		"other unit":  {Cap{Epsilon: 3, Delta: 1e-5, Adjacency: privacy.ReplaceOne, Unit: Unit{"clinic", 4}}, true},
		"of removals": {Cap{Epsilon: 3, Delta: 1e-5, Adjacency: privacy.AddRemove, Unit: person}, true},
	} {
		if c.now.Looser(before) != c.want {
			t.Errorf("%s: looser is %v, must be %v", name, !c.want, c.want)
		}
	}
}

// TestBalanceIsWhatAppendAdmits: what the balance calls the largest pure release fits, and a little more does not;
// spent and left are the cap.
func TestBalanceIsWhatAppendAdmits(t *testing.T) {
	for _, filter := range filterNames() {
		l, _ := newLedger(&memory{}, dataset, ticking())
		limit := Cap{Epsilon: 3, Delta: 1e-5, Adjacency: privacy.AddRemove, Filter: filter}
		first := charge("a", 0.5)
		if filter == "gaussian" {
			first.Event = privacy.Gaussian{NoiseMultiplier: 4}
		}
		if _, err := l.Append(&limit, first); err != nil {
			t.Fatal(filter, err)
		}
		b, err := BalanceOf(l.Entries())
		if err != nil || !(b.Spent > 0 && b.Left > 0) || math.Abs(b.Spent+b.Left-3) > 1e-9 || b.Line != 1 {
			t.Fatalf("%s: %+v, %v", filter, b, err)
		}
		if filter == "gaussian" {
			if b.Pure != 0 {
				t.Errorf("the filter gaussian takes no pure release, and is said to have room for %v", b.Pure)
			}
			continue
		}
		if l.Check(limit, charge("b", b.Pure)) != nil || l.Check(limit, charge("b", b.Pure*1.0001)) == nil {
			t.Errorf("%s: %v is not the largest pure release that fits", filter, b.Pure)
		}
	}
	if b, err := BalanceOf(nil); b != nil || err != nil {
		t.Errorf("an empty ledger has the balance %+v, %v", b, err)
	}
}

// TestBalanceCountsChargesAlike: as many charges like the last capped one fit as the balance says, and not one more.
func TestBalanceCountsChargesAlike(t *testing.T) {
	for _, filter := range filterNames() {
		l, _ := newLedger(&memory{}, dataset, ticking())
		limit := Cap{Epsilon: 3, Delta: 1e-5, Adjacency: privacy.AddRemove, Filter: filter}
		next := func(i int) Charge {
			c := charge(strconv.Itoa(i), 0.4)
			if filter == "gaussian" {
				c.Event = privacy.Gaussian{NoiseMultiplier: 4}
			}
			return c
		}
		if _, err := l.Append(&limit, next(0)); err != nil {
			t.Fatal(filter, err)
		}
		b, err := BalanceOf(l.Entries())
		if err != nil || b.Alike < 2 || b.Alike >= MostAlike {
			t.Fatalf("%s: %+v, %v", filter, b, err)
		}
		for i := range b.Alike {
			if _, err := l.Append(&limit, next(i+1)); err != nil {
				t.Fatalf("%s: charge %d of %d: %v", filter, i+1, b.Alike, err)
			}
		}
		if l.Check(limit, next(b.Alike+1)) == nil {
			t.Errorf("%s: more than %d charges fit", filter, b.Alike)
		}
		if b, err = BalanceOf(l.Entries()); err != nil || b.Alike != 0 {
			t.Errorf("%s: then %d fit, must be 0 (%v)", filter, b.Alike, err)
		}
	}
}

// TestRefusalIsInEpsilon: the refusal is in epsilon, and does not say that nothing was charged where other
// charges of the run stand.
func TestRefusalIsInEpsilon(t *testing.T) {
	l, _ := newLedger(&memory{}, dataset, ticking())
	limit := Cap{Epsilon: 3, Delta: 1e-5, Adjacency: privacy.AddRemove, Filter: "rdp"}
	gaussian := func(id string, noise float64) Charge {
		c := charge(id, 0)
		c.Event = privacy.Gaussian{NoiseMultiplier: noise}
		return c
	}
	if _, err := l.Append(&limit, gaussian("a", 1.7)); err != nil {
		t.Fatal(err)
	}
	_, err := l.Append(&limit, gaussian("b", 3))
	var upper *OverBudgetError
	if !errors.As(err, &upper) {
		t.Fatal(err)
	}
	spent := privacy.Bound(upper.Filter.epsilon(upper.Spent, 1e-5))
	with := privacy.Bound(upper.Filter.epsilon(upper.With, 1e-5))
	if text := err.Error(); !strings.HasPrefix(text, "refused: epsilon "+spent+
		" of 3 is spent at delta 1e-05; this bill would make it "+with+" by the filter rdp. Nothing was charged. ") ||
		strings.Index(text, "Renyi") < strings.Index(text, "dataset.budget. (filter rdp at order") {
		t.Errorf("the refusal says %s", text)
	}
	upper.Begun = true
	if text := err.Error(); strings.Contains(text, "Nothing") || !strings.Contains(text, "was charged before stands") {
		t.Errorf("of a run that was charged before, the refusal says %s", text)
	}
	upper.With = Cost{Amount: math.Inf(1)}
	if text := err.Error(); !strings.Contains(text, "make it more than any epsilon bounds") {
		t.Errorf("without a bound, the refusal says %s", text)
	}
}

func sum(t *testing.T, adjacency privacy.Adjacency, charges ...Charge) Total {
	t.Helper()
	l, _ := newLedger(&memory{}, dataset, ticking())
	if _, err := l.Append(nil, charges...); err != nil {
		t.Fatal(err)
	}
	total, err := Sum(l.Entries(), adding{}, adjacency, Unit{}, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	return total
}

func TestSum(t *testing.T) {
	replace := charge("r", 0.25)
	replace.Adjacency = privacy.ReplaceOne
	broken := Charge{ID: "u", Version: "1", Adjacency: privacy.AddRemove, Unproven: "W13: an encoder without noise",
		Published: ptr(0.36)}
	for name, c := range map[string]struct {
		got    Total
		want   float64
		reason string
	}{
		"nothing":                      {sum(t, privacy.AddRemove), 0, ""},
		"one adjacency":                {sum(t, privacy.AddRemove, charge("a", 1), charge("b", 2), charge("c", 1)), 4, ""},
		"replace_one alone":            {sum(t, privacy.ReplaceOne, replace), 0.25, ""},
		"add_remove seen as replacing": {sum(t, privacy.ReplaceOne, charge("a", 1)), 2, "exchanges"},
		"both under replace_one":       {sum(t, privacy.ReplaceOne, charge("a", 1), replace), 2.25, "exchanges"},
		"both under add_remove":        {sum(t, privacy.AddRemove, charge("a", 1), replace), math.Inf(1), "line 2"},
		"without proof":                {sum(t, privacy.AddRemove, charge("a", 1), broken), math.Inf(1), "W13"},
	} {
		if c.got.Epsilon != c.want || !strings.Contains(c.got.Reason, c.reason) || (c.reason == "") != (c.got.Reason == "") {
			t.Errorf("%s: is %+v, must be %g (%s)", name, c.got, c.want, c.reason)
		}
	}
}

func TestSumRefusesWhatTheAccountantDoes(t *testing.T) {
	l, _ := newLedger(&memory{}, dataset, ticking())
	c := charge("g", 1)
	c.Event = privacy.Gaussian{NoiseMultiplier: 1}
	l.Append(nil, c)
	if _, err := Sum(l.Entries(), adding{}, privacy.AddRemove, Unit{}, 1e-5); !errors.Is(err, privacy.ErrUnsupported) {
		t.Errorf("error is %v", err)
	}
}
