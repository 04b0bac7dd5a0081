package ledger

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"weir/privacy"
	"weir/privacy/account"
)

// hearing is an accountant that notes what it is asked.
type hearing struct{ text string }

func (*hearing) Name() string { return "hearing" }
func (h *hearing) Epsilon(events []privacy.Event, adjacency privacy.Adjacency, _ float64) (float64, error) {
	h.text = string(adjacency)
	for _, e := range events {
		b, err := privacy.MarshalEvent(e)
		if err != nil {
			return 0, err
		}
		h.text += " " + string(b)
	}
	return 1, nil
}
func (*hearing) Delta([]privacy.Event, privacy.Adjacency, float64) (float64, error) { return 0, nil }

// TestUnits holds the table of docs/design/ledger.md for a Gaussian of noise 8.
func TestUnits(t *testing.T) {
	row, four, one, other := Unit{}, Unit{"patient", 4}, Unit{"patient", 1}, Unit{"clinic", 2}
	const in, swap = privacy.AddRemove, privacy.ReplaceOne
	for _, c := range []struct {
		charged Unit
		under   privacy.Adjacency
		asked   Unit
		as      privacy.Adjacency
		noise   float64 // 0: nothing is known
		pairs   privacy.Adjacency
		reason  string
	}{
		{row, in, row, in, 8, in, ""},
		{row, in, row, swap, 8, swap, "exchanges"},
		{row, swap, row, in, 0, "", "replace_one"},
		{four, in, four, in, 8, in, ""},
		{four, in, one, in, 8, in, ""},
		{one, swap, four, swap, 8, swap, ""},
		{four, in, one, swap, 8, swap, "exchanges"},
		{row, in, four, in, 2, in, "4 rows"},
		{row, in, four, swap, 2, swap, "4 rows"},
		{row, swap, four, swap, 0, "", "keeps their number"},
		{row, swap, four, in, 0, "", "replace_one"},
		{row, swap, one, swap, 8, swap, "1 rows"},
		{four, in, row, in, 8, swap, "exchange of its patient"},
		{four, in, row, swap, 4, swap, "exchange of its patient"},
		{four, swap, row, swap, 0, "", "keeps their number"},
		{four, swap, row, in, 0, "", "replace_one"},
		{four, in, other, in, 0, "", "one clinic"},
		{four, swap, other, swap, 0, "", "one clinic"},
	} {
		charge := Entry{ID: "x", Unit: c.charged, Adjacency: c.under, Event: privacy.JSON{Event: privacy.Gaussian{NoiseMultiplier: 8}}}
		var h hearing
		total, err := Sum([]Entry{charge}, &h, c.as, c.asked, 1e-5)
		want := fmt.Sprintf(`%s {"gaussian":{"noise_multiplier":%g}}`, c.pairs, c.noise)
		if c.noise == 0 {
			want = ""
		}
		name := fmt.Sprintf("%s %s, asked for %s %s", c.charged, c.under, c.asked, c.as)
		if err != nil || h.text != want || !strings.Contains(total.Reason, c.reason) || (c.reason == "") != (total.Reason == "") {
			t.Errorf("%s: heard %q, must be %q; %q, %v", name, h.text, want, total.Reason, err)
		}
		if c.noise == 0 && (!math.IsInf(total.Epsilon, 1) || !strings.Contains(total.Reason, "line 1")) {
			t.Errorf("%s: is %+v, must be infinite and name the line", name, total)
		}
	}
	if _, err := Sum(nil, &hearing{}, in, Unit{"patient", 0}, 1e-5); err == nil || !strings.Contains(err.Error(), "max_rows: is 0") {
		t.Errorf("a unit of no rows: %v", err)
	}
}

// A run for rows and one for patients with up to 4 rows seem cheap together, but
// a patient with 4 rows moves the sum of the first four times as far.
func TestRowsAndPersonsDoNotAddUp(t *testing.T) {
	rows := charge("rows", 0)
	rows.Event = privacy.Laplace{NoiseMultiplier: 0.8} // epsilon 1.25 for a row, 5 for four
	persons := withUnit(charge("persons", 0), "patient", 4)
	persons.Event = privacy.Pure{Epsilon: 0.012}
	l, _ := newLedger(&memory{}, dataset, ticking())
	if _, err := l.Append(nil, rows, persons); err != nil {
		t.Fatal(err)
	}
	exact := 4/0.8 + 0.012 // at delta 0, where the bound is attained by 4 equal rows
	total, err := Sum(l.Entries(), byName(t, "basic"), privacy.AddRemove, Unit{"patient", 4}, 0)
	if err != nil || math.Abs(total.Epsilon-exact) > 1e-9 {
		t.Errorf("a patient's total is %+v, must be %v (%v)", total, exact, err)
	}
	limit := &Cap{Epsilon: 2, Delta: 1e-6, Adjacency: privacy.AddRemove, Unit: Unit{"patient", 4}, Filter: "basic"}
	if _, err := l.Append(limit, withUnit(charge("next", 0.1), "patient", 4)); err == nil {
		t.Error("the cap counts a patient's rows as one")
	}
}

// An event that cannot be read for more rows makes the total infinite, as does a
// sample of fixed size where the number of rows may change.
func TestUnitsWithoutBound(t *testing.T) {
	fixed := privacy.SampledWithoutReplacement{SampleSize: 1, Population: 9, Event: privacy.Gaussian{NoiseMultiplier: 1}}
	for _, c := range []struct {
		event          privacy.Event
		charged, asked Unit
		as             privacy.Adjacency
		reason         string
	}{
		{privacy.DiscreteGaussian{NoiseMultiplier: 2}, Unit{}, Unit{"patient", 4}, privacy.AddRemove, "discrete Gaussian"},
		{fixed, Unit{}, Unit{"patient", 4}, privacy.ReplaceOne, "fixed number"},
		{privacy.Repeated{Count: 2, Event: fixed}, Unit{"patient", 4}, Unit{}, privacy.ReplaceOne, "fixed number"},
		{privacy.Composed{Events: []privacy.Event{fixed}}, Unit{"patient", 4}, Unit{}, privacy.AddRemove, "fixed number"},
	} {
		e := Entry{ID: "x", Unit: c.charged, Adjacency: privacy.AddRemove, Event: privacy.JSON{Event: c.event}}
		total, err := Sum([]Entry{e}, &hearing{}, c.as, c.asked, 1e-5)
		if err != nil || !math.IsInf(total.Epsilon, 1) || !strings.Contains(total.Reason, "line 1") || !strings.Contains(total.Reason, c.reason) {
			t.Errorf("%+v for %s: %+v, %v", c.event, c.asked, total, err)
		}
	}
}

// One row changes what its patient adds to a sum from any point of the ball to
// any other: twice the distance of a patient who comes or goes.
func TestARowCanTurnAPersonsContribution(t *testing.T) {
	e := Entry{ID: "x", Unit: Unit{"patient", 4}, Adjacency: privacy.AddRemove, Event: privacy.JSON{Event: privacy.Gaussian{NoiseMultiplier: 3}}}
	total, err := Sum([]Entry{e}, byName(t, "pld"), privacy.AddRemove, Unit{}, 1e-5)
	if exact := account.GaussianEpsilon(1.5, 1e-5); err != nil || total.Epsilon < exact*(1-1e-9) || total.Epsilon > exact*1.001 {
		t.Errorf("total %+v, must be %v (%v)", total, exact, err)
	}
}

// Grouping and exchanging commute, so no order of the two is cheaper.
func TestGroupAndExchangeCommute(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		e := randomEvent(rng, 3)
		a, err := privacy.Group(e, 3)
		if err != nil {
			continue
		}
		a, errA := privacy.Exchanged(a)
		b, errB := privacy.Exchanged(e)
		if errA == nil && errB == nil {
			b, errB = privacy.Group(b, 3)
		}
		if errA != nil || errB != nil || !same(reflect.ValueOf(a), reflect.ValueOf(b)) {
			t.Fatalf("%+v: %+v (%v), %+v (%v)", e, a, errA, b, errB)
		}
	}
}

// same compares events up to rounding.
func same(a, b reflect.Value) bool {
	if a.Kind() == reflect.Interface {
		a, b = a.Elem(), b.Elem()
	}
	a, b = flat(a), flat(b)
	if a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Float64:
		return math.Abs(a.Float()-b.Float()) <= 1e-9*math.Abs(a.Float())
	case reflect.Int64:
		return a.Int() == b.Int()
	case reflect.Slice:
		for i := range a.Len() {
			if a.Len() != b.Len() || !same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return a.Len() == b.Len()
	}
	for i := range a.NumField() {
		if !same(a.Field(i), b.Field(i)) {
			return false
		}
	}
	return true
}

// flat writes repetitions of repetitions as one.
func flat(v reflect.Value) reflect.Value {
	e, ok := v.Interface().(privacy.Repeated)
	if !ok {
		return v
	}
	if inner, ok := e.Event.(privacy.Repeated); ok {
		return flat(reflect.ValueOf(privacy.Repeated{Count: e.Count * inner.Count, Event: inner.Event}))
	}
	return v
}

func randomEvent(rng *rand.Rand, depth int) privacy.Event {
	n := 6
	if depth > 0 {
		n = 10
	}
	x := rng.Float64()
	switch rng.IntN(n) {
	case 0:
		return privacy.Gaussian{NoiseMultiplier: 1 + x}
	case 1:
		return privacy.DiscreteLaplace{NoiseMultiplier: 1 + x}
	case 2:
		return privacy.RandomizedResponse{Epsilon: x}
	case 3:
		return privacy.ZCDP{Rho: x}
	case 4:
		return privacy.Approximate{Epsilon: 0.1 + x, Delta: 1e-7 * x}
	case 5:
		return privacy.Exponential{Epsilon: x}
	case 6:
		return privacy.PoissonSampled{SamplingRate: x, Event: randomEvent(rng, depth-1)}
	case 7:
		return privacy.Repeated{Count: 1 + rng.Int64N(4), Event: randomEvent(rng, depth-1)}
	case 8:
		return privacy.Composed{Events: []privacy.Event{randomEvent(rng, depth-1), randomEvent(rng, depth-1)}}
	}
	part := randomEvent(rng, depth-1)
	return privacy.Parallel{Events: []privacy.Event{part, part, part, part, part, part, part}[:1+rng.IntN(7)]}
}
