package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir/internal/disk"
	"weir/privacy"
	"weir/privacy/account"
)

func containsAll(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

func TestCap(t *testing.T) {
	m := filled(t, 2) // 1 + 2, uncapped: they count too
	l, _ := newLedger(m, dataset, ticking())
	limit := &Cap{Epsilon: 5, Adjacency: privacy.AddRemove, Filter: "basic"}
	size := len(m.data)
	_, err := l.Append(limit, charge("a", 1), charge("b", 1.5))
	var upper *OverBudgetError
	if !errors.As(err, &upper) || !errors.Is(err, ErrOverBudget) || upper.Spent.Amount != 3 || upper.With.Amount != 5.5 ||
		upper.Left().Amount != 2 || len(m.data) != size {
		t.Fatalf("over the cap: %v, %+v, %d bytes written", err, upper, len(m.data)-size)
	}
	if !containsAll(err.Error(), "filter basic", "epsilon 3 and", "epsilon 5.5 and", "epsilon 2 and",
		"one row, add_remove", "refused: epsilon 3 of 5 is spent at delta 0; this bill would make it 5.5 by the filter "+
			"basic. Nothing was charged. Lower privacy.epsilon") {
		t.Errorf("the refusal says %v", err)
	}
	if !errors.Is(l.Check(*limit, charge("a", 2.5)), ErrOverBudget) || l.Check(*limit, charge("a", 2)) != nil {
		t.Error("Check must say what Append will")
	}
	if _, err := l.Append(limit, charge("a", upper.Left().Amount)); err != nil {
		t.Errorf("what is left must fit: %v", err)
	}
	unproven := Charge{ID: "u", Version: "1", Adjacency: privacy.AddRemove, Unproven: "W13"}
	if _, err := l.Append(limit, unproven); !errors.Is(err, ErrOverBudget) || !strings.Contains(err.Error(), "W13") {
		t.Errorf("a charge without proof under a cap: %v", err)
	}
	for _, bad := range []Cap{{Epsilon: math.NaN(), Delta: 0.1}, {Epsilon: 1, Delta: 1}, {Epsilon: -1},
		{Epsilon: 99, Filter: "pld"}, {Epsilon: 99, Filter: "rdp"},
		{Epsilon: 99, Filter: "basic", Order: 2}, {Epsilon: 99, Delta: 0.1, Order: 1}, {Epsilon: 99, Filter: "basic",
			Unit: Unit{"patient", 0}}} {
		bad.Adjacency = privacy.AddRemove
		fresh, _ := newLedger(&memory{}, dataset, ticking())
		if _, err := fresh.Append(&bad, charge("z", 0)); err == nil || errors.Is(err, ErrOverBudget) {
			t.Errorf("cap %+v: %v", bad, err)
		}
	}
}

// TestCapHoldsAcrossWriters: a cap of epsilon 5 admits two of these; both writers see each other's charges.
func TestCapHoldsAcrossWriters(t *testing.T) {
	m := &memory{}
	a, _ := newLedger(m, dataset, ticking())
	b, _ := newLedger(m, dataset, ticking())
	limit := &Cap{Epsilon: 5, Adjacency: privacy.AddRemove, Filter: "basic"}
	_, first := a.Append(limit, charge("a", 2))
	_, second := b.Append(limit, charge("b", 2))
	_, third := a.Append(limit, charge("c", 2))
	if first != nil || second != nil || !errors.Is(third, ErrOverBudget) {
		t.Errorf("%v, %v, %v", first, second, third)
	}
}

// TestFilterIsFixedOnce: the first capped charge fixes filter and order; no later cap chooses again.
func TestFilterIsFixedOnce(t *testing.T) {
	m := filled(t, 1)
	l, _ := newLedger(m, dataset, ticking())
	limit := Cap{Epsilon: 10, Delta: 1e-6, Adjacency: privacy.AddRemove, Filter: "rdp"}
	first, err := l.Append(&limit, charge("a", 0.1))
	if err != nil || first[0].Filter == nil || first[0].Filter.Name != "rdp" {
		t.Fatal(first, err)
	}
	order := first[0].Filter.Order
	for _, other := range []Cap{{Filter: "basic"}, {Filter: "gaussian"}, {Order: order + 1},
		{Filter: "rdp", Order: order / 2}} {
		other.Epsilon, other.Delta, other.Adjacency = 50, 1e-3, privacy.AddRemove
		if _, err := l.Append(&other, charge("b", 0.1)); !errors.Is(err, ErrFilter) || !containsAll(err.Error(), "line 2",
			"after looking", fmt.Sprintf("order %g", order)) {
			t.Errorf("cap %+v: %v", other, err)
		}
	}
	wider := Cap{Epsilon: 50, Delta: 1e-3, Adjacency: privacy.AddRemove} // would fix a lower order by itself
	if f, _ := wider.fresh(); f.Order == order {
		t.Fatal("the test needs caps of two orders")
	}
	fixed, err := l.Fix(wider, charge("b", 0.1))
	if err != nil || fixed.Filter != "rdp" || fixed.Order != order {
		t.Errorf("Fix gives %+v, %v", fixed, err)
	}
	got, err := l.Append(&wider, charge("b", 0.1))
	if err != nil || *got[0].Filter != *first[0].Filter {
		t.Errorf("a later charge has %+v, %v", got, err)
	}
	if f, line, err := FilterOf(l.Entries()); err != nil || line != 2 || f.Order != order {
		t.Errorf("the ledger's filter is %v in line %d, %v", f, line, err)
	}
}

// TestMergedFilters: two branches that fixed two filters are merged without loss, but no cap goes on.
func TestMergedFilters(t *testing.T) {
	base := filled(t, 1).data
	capped := func(id, filter string) []byte {
		m := &memory{data: bytes.Clone(base)}
		l, _ := newLedger(m, dataset, func() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) })
		if _, err := l.Append(&Cap{Epsilon: 50, Delta: 1e-6, Adjacency: privacy.AddRemove, Filter: filter},
			charge(id, 0.1)); err != nil {
			t.Fatal(err)
		}
		return m.data
	}
	m := &memory{data: merged(t, capped("a", "rdp"), capped("b", "basic"))}
	l, err := newLedger(m, dataset, ticking())
	if err != nil || len(l.Entries()) != 3 {
		t.Fatal(err)
	}
	for _, filter := range []string{"", "rdp", "basic"} {
		if err := l.Check(Cap{Epsilon: 50, Delta: 1e-6, Adjacency: privacy.AddRemove, Filter: filter},
			charge("c", 0.1)); !errors.Is(err, ErrFilter) {
			t.Errorf("filter %q goes on: %v", filter, err)
		}
	}
	m = &memory{data: merged(t, capped("a", "rdp"), capped("b", "rdp"))}
	if l, _ = newLedger(m, dataset, ticking()); l.Check(Cap{Epsilon: 50, Delta: 1e-6, Adjacency: privacy.AddRemove},
		charge("c", 0.1)) != nil {
		t.Error("two branches under one filter must go on")
	}
}

// TestFixFitsTheOrderToTheBill: sampled Gaussians with little noise have no use at the order of plain ones: Fix
// finds theirs before the first is drawn, and records it with the charge.
func TestFixFitsTheOrderToTheBill(t *testing.T) {
	bill := charge("train", 0)
	bill.Adjacency = privacy.ReplaceOne
	bill.Event = privacy.Repeated{Count: 2000, Event: privacy.SampledWithoutReplacement{SampleSize: 1, Population: 3000,
		Event: privacy.Gaussian{NoiseMultiplier: 0.7}}}
	l, _ := newLedger(&memory{}, dataset, ticking())
	limit := Cap{Epsilon: 3, Delta: 1e-6, Adjacency: privacy.ReplaceOne, Filter: "rdp"}
	if err := l.Check(limit, bill); !errors.Is(err, ErrOverBudget) {
		t.Fatalf("at the order of a Gaussian: %v", err)
	}
	fixed, err := l.Fix(limit, bill)
	if err != nil || fixed.Order <= 1 {
		t.Fatal(fixed, err)
	}
	got, err := l.Append(&fixed, bill)
	if err != nil || got[0].Filter.Order != fixed.Order {
		t.Fatal(got, err)
	}
	total, err := SumFilter(l.Entries(), *got[0].Filter, privacy.ReplaceOne, Unit{}, 1e-6)
	best := byName(t, "rdp")
	if eps, _ := best.Epsilon([]privacy.Event{bill.Event}, privacy.ReplaceOne, 1e-6); err != nil || total.Epsilon > 3 ||
		total.Epsilon < eps {
		t.Errorf("total %+v, between %g and 3 (%v)", total, eps, err)
	}
}

// TestFixLeavesRoomForGaussians: a first bill of pure releases would like an order at which no Gaussian fits:
// Fix leaves room for those that come later.
func TestFixLeavesRoomForGaussians(t *testing.T) {
	laplace, gaussian := charge("a", 0), charge("b", 0)
	laplace.Event = privacy.Laplace{NoiseMultiplier: 2}
	gaussian.Event = privacy.Gaussian{NoiseMultiplier: 8}
	l, _ := newLedger(&memory{}, dataset, ticking())
	limit, err := l.Fix(Cap{Epsilon: 2, Delta: 1e-6, Adjacency: privacy.AddRemove}, laplace)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(&limit, laplace, gaussian); err != nil {
		t.Errorf("at order %g: %v", limit.Order, err)
	}
}

// TestCapCountsUnits: a charge for rows counts four times for a patient of four rows under the cap.
func TestCapCountsUnits(t *testing.T) {
	limit := Cap{Epsilon: 2, Delta: 1e-6, Adjacency: privacy.AddRemove, Unit: Unit{"patient", 4}, Filter: "basic"}
	l, _ := newLedger(filled(t, 1), dataset, ticking()) // epsilon 1 for a row
	var over *OverBudgetError
	if err := l.Check(limit, withUnit(charge("x", 0.1), "patient", 9)); !errors.As(err, &over) || over.Spent.Amount != 4 ||
		!strings.Contains(err.Error(), "patient (at most 4 rows each)") {
		t.Errorf("a row's charge for a patient: %v", err)
	}
	if err := l.Check(limit, withUnit(charge("x", 0.1), "clinic", 9)); !errors.Is(err, ErrOverBudget) ||
		!strings.Contains(err.Error(), "line 2") {
		t.Errorf("another column under the cap: %v", err)
	}
}

// TestSumFilterInvertsTheCap: the total of a filter is the epsilon whose cap it would just pass.
func TestSumFilterInvertsTheCap(t *testing.T) {
	for name, e := range map[string]privacy.Event{"rdp": privacy.Laplace{NoiseMultiplier: 3},
		"gaussian": privacy.Gaussian{NoiseMultiplier: 3}, "basic": privacy.Approximate{Epsilon: 0.3, Delta: 1e-7}} {
		c := charge("a", 0)
		c.Event = e
		limit := Cap{Epsilon: 30, Delta: 1e-6, Adjacency: privacy.AddRemove, Filter: name}
		l, _ := newLedger(&memory{}, dataset, ticking())
		if _, err := l.Append(&limit, c); err != nil {
			t.Fatal(name, err)
		}
		total, err := SumFilter(l.Entries(), *l.Entries()[0].Filter, privacy.AddRemove, Unit{}, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		for factor, fits := range map[float64]bool{1 + 1e-9: true, 1 - 1e-6: false} {
			limit.Epsilon = total.Epsilon * factor
			if err := l.Check(limit); (err == nil) != fits {
				t.Errorf("%s: total %g, cap %g: %v", name, total.Epsilon, limit.Epsilon, err)
			}
		}
	}
}

// TestAdmitIsCheck: charges that are in no file are admitted as the charges of a ledger are,
// by the filter that it would have.
func TestAdmitIsCheck(t *testing.T) {
	for _, filter := range []string{"rdp", "gaussian"} {
		for _, noise := range []float64{1, 2, 4, 8} {
			l, err := Open(disk.Disk{}, filepath.Join(t.TempDir(), "l"), "ds-1", time.Now)
			if err != nil {
				t.Fatal(err)
			}
			limit := Cap{Epsilon: 2, Delta: 1e-5, Adjacency: privacy.AddRemove, Filter: filter}
			c := Charge{ID: "a", Run: "r", Spec: "s", Version: "1", Stage: "t", Adjacency: privacy.AddRemove,
				Event: privacy.Gaussian{NoiseMultiplier: noise}}
			fixed, err := limit.fix(nil, func() ([]Entry, error) {
				return []Entry{c.entry("ds-1", time.Time{}, admission{})},
					nil
			})
			if err != nil {
				t.Fatal(err)
			}
			want := l.Check(fixed, c)
			f, got := limit.Admit(nil, []Entry{{ID: "a", Event: privacy.JSON{Event: c.Event}, Adjacency: c.Adjacency}})
			if (f != Filter{fixed.Filter, fixed.Order}) || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s, noise %g: %v by %v, must be %v", filter, noise, got, f, want)
			}
		}
	}
}

// TestRefusalOffersTheFilterThatFits: a Gaussian release that costs just the cap by itself passes it by the filter rdp,
// and is admitted by the filter gaussian, which the refusal says as long as no capped charge has fixed another.
func TestRefusalOffersTheFilterThatFits(t *testing.T) {
	l, _ := newLedger(&memory{}, dataset, ticking())
	limit := Cap{Epsilon: 1, Delta: 1e-6, Adjacency: privacy.AddRemove}
	release := Charge{ID: "g", Version: "1", Adjacency: privacy.AddRemove,
		Event: privacy.Gaussian{NoiseMultiplier: account.GaussianNoise(1, 1e-6) * 1.0001}}
	const offer = "Declare dataset.budget.filter: gaussian"
	err := l.Check(limit, release)
	if !errors.Is(err, ErrOverBudget) || !containsAll(err.Error(), "by the filter rdp. Nothing was charged. "+offer) {
		t.Fatalf("by rdp: %v", err)
	}
	fits := limit
	fits.Filter = "gaussian"
	if err := l.Check(fits, release); err != nil {
		t.Errorf("by gaussian: %v", err)
	}
	twice := release
	twice.ID = "h"
	if err := l.Check(limit, release, twice); err == nil || strings.Contains(err.Error(), offer) {
		t.Errorf("what no filter admits: %v", err)
	}
	small := release
	small.Event = privacy.Gaussian{NoiseMultiplier: 1000}
	if _, err := l.Append(&limit, small); err != nil {
		t.Fatal(err)
	}
	release.Event = privacy.Gaussian{NoiseMultiplier: account.GaussianNoise(1, 1e-6) * 1.01}
	if err := l.Check(limit, release); err == nil || strings.Contains(err.Error(), offer) {
		t.Errorf("once rdp is fixed: %v", err)
	}
}

// TestUnmeasuredChargesAreRefusedByName: a filter without a measure for a charge refuses it by its stage, names the
// filters that measure everything while none is fixed, and the line where the charge is made already. The comment of
// Filter has the measures: gaussian takes unsampled Gaussian releases, rdp and basic take pure ones, none takes a delta
// of its own beside Gaussian noise.
func TestUnmeasuredChargesAreRefusedByName(t *testing.T) {
	limit := Cap{Epsilon: 50, Delta: 1e-6, Adjacency: privacy.AddRemove, Filter: "gaussian"}
	noise, list := charge("noise", 0), charge("list", 0)
	noise.Event, list.Event = privacy.Gaussian{NoiseMultiplier: 5}, privacy.Approximate{Epsilon: 0.1, Delta: 1e-8}
	list.Stage, list.Name = "lists", "selection"
	refused := func(l *Ledger, limit Cap, c Charge, want ...string) {
		t.Helper()
		err := l.Check(limit, c)
		var e *UnmeasuredError
		if !errors.As(err, &e) || !errors.Is(err, privacy.ErrUnsupported) || !containsAll(err.Error(), want...) {
			t.Errorf("the refusal is %v, must have %q", err, want)
		}
	}
	l, _ := newLedger(&memory{}, dataset, ticking())
	refused(l, limit, charge("pure", 0.1), "stage train would spend sum", "filter gaussian", "Nothing was charged",
		"Declare dataset.budget.filter: rdp or basic")
	if _, err := l.Append(&limit, noise); err != nil {
		t.Fatal(err)
	}
	refused(l, limit, charge("pure", 0.1), "stage train would spend sum", "No other filter has a measure")
	l, _ = newLedger(&memory{}, dataset, ticking())
	if _, err := l.Append(nil, list); err != nil {
		t.Fatal(err)
	}
	limit.Filter = "rdp"
	refused(l, limit, noise, "line 1 of the ledger: stage lists has spent selection", "filter rdp",
		"No other filter has a measure for all charges", "can have no budget")
}

// TestCanBeCapped: a filter takes a list with a delta of its own alone (basic), and none beside Gaussian noise; once a
// capped charge has fixed a filter, that one alone counts.
func TestCanBeCapped(t *testing.T) {
	noise, list := Entry{Adjacency: privacy.AddRemove}, Entry{Adjacency: privacy.AddRemove}
	noise.Event.Event = privacy.Gaussian{NoiseMultiplier: 5}
	list.Event.Event = privacy.Approximate{Epsilon: 0.1, Delta: 1e-8}
	fixed := noise
	fixed.Filter, fixed.Cap = &Filter{Name: "gaussian"}, &CapTerms{1, 1e-6}
	pure := noise
	pure.Event.Event = privacy.Pure{Epsilon: 0.1}
	for name, c := range map[string]struct {
		entries []Entry
		want    bool
	}{
		"none": {nil, true}, "list": {[]Entry{list}, true}, "list and noise": {[]Entry{list, noise}, false},
		"noise": {[]Entry{noise, pure}, true}, "fixed": {[]Entry{fixed, noise}, true},
		"fixed otherwise": {[]Entry{fixed, pure}, false},
	} {
		if got, err := CanBeCapped(c.entries, privacy.AddRemove, Unit{}); err != nil || got != c.want {
			t.Errorf("%s: can be capped is %t (%v), must be %t", name, got, err, c.want)
		}
	}
}
