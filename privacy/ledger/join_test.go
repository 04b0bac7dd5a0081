package ledger

import (
	"errors"
	"testing"

	"weir/privacy"
)

const elsewhere = "ds-ffeeddccbbaa99887766554433221100"

// TestJoin: charges of another dataset are appended without a cap, once, all or
// none, under the filter of the ledger that takes them.
func TestJoin(t *testing.T) {
	limit := &Cap{Epsilon: 3, Delta: 1e-6, Adjacency: privacy.AddRemove, Filter: "basic"}
	other, _ := newLedger(&memory{}, elsewhere, ticking())
	if _, err := other.Append(&Cap{Epsilon: 50, Delta: 1e-6, Adjacency: privacy.AddRemove}, charge("a", 1), charge("b", 2)); err != nil {
		t.Fatal(err)
	}
	store := &memory{}
	l, _ := newLedger(store, dataset, ticking())
	if _, err := l.Append(limit, charge("a", 2)); err != nil {
		t.Fatal(err)
	}
	store.failAppend = true
	if n, err := l.Join(other.Entries()); !errors.Is(err, errDisk) || len(l.Entries()) != 1 {
		t.Errorf("%d, %v: must fail and add nothing", n, err)
	}
	store.failAppend = false
	for _, want := range []int{2, 0} {
		if n, err := l.Join(other.Entries()); n != want || err != nil {
			t.Errorf("%d, %v, must be %d", n, err, want)
		}
	}
	entries, err := Parse(store.data)
	if err != nil || len(entries) != 3 || entries[1].ID != "a joined from "+elsewhere || !entries[1].Time.Equal(other.Entries()[0].Time) {
		t.Errorf("%+v, %v", entries, err)
	}
	if f, _, err := FilterOf(entries); err != nil || f.Name != "basic" {
		t.Errorf("%v, %v: must stay basic", f, err)
	}
	if _, err := l.Append(limit, charge("c", 0.1)); !errors.Is(err, ErrOverBudget) {
		t.Errorf("%v: joined charges do not count", err)
	}
	fresh, _ := newLedger(&memory{}, dataset, ticking())
	if _, err := fresh.Join(other.Entries()); err != nil {
		t.Fatal(err)
	}
	if f, _, err := FilterOf(fresh.Entries()); err != nil || f == nil || f.Name != "rdp" {
		t.Errorf("%v, %v: the filter that was fixed before is forgotten", f, err)
	}
}
