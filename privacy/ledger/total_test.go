package ledger

import (
	"errors"
	"math"
	"strings"
	"testing"

	"weir/privacy"
)

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
	broken := Charge{ID: "u", Version: "1", Adjacency: privacy.AddRemove, Unproven: "W13: an encoder without noise", Published: ptr(0.36)}
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
