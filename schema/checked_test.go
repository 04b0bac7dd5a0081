package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRightValuesAreCheckedOnce: copies of a document with a memory decode as the document does, and hold to a schema
// only what differs.
func TestRightValuesAreCheckedOnce(t *testing.T) {
	known := &Checked{}
	first := parsed(t, smallSpec)
	first.Remember(known)
	decoded := func(d *Document) *testSpec {
		spec := newTestSpec()
		if ps := d.Decode("", spec); len(ps) > 0 {
			t.Error(Join(ps))
		}
		return spec
	}
	want := decoded(first.Clone())
	if got := decoded(first.Clone()); !cmp.Equal(got, want, cmp.AllowUnexported(Raw{}), cmp.Comparer(sameRaw)) ||
		known.Checks() != 1 {
		t.Errorf("%d checks of two equal documents, must be 1: %+v and %+v", known.Checks(), got, want)
	}
	other := first.Clone()
	if err := other.Set("privacy.delta", "0.25"); err != nil {
		t.Fatal(err)
	}
	if got := decoded(other); got.Privacy.Delta != 0.25 || known.Checks() != 2 {
		t.Errorf("%d checks, must be 2; delta is %g, must be 0.25", known.Checks(), got.Privacy.Delta)
	}
	if d := decoded(first.Clone()); d.Privacy.Delta != want.Privacy.Delta {
		t.Errorf("a copy of a document changes it: delta is %g", d.Privacy.Delta)
	}
}

// TestWrongValuesAreToldEachTime: what is wrong is told of every document that has it, at its place.
func TestWrongValuesAreToldEachTime(t *testing.T) {
	first := parsed(t, smallSpec)
	if err := first.Set("privacy.delta", "x"); err != nil {
		t.Fatal(err)
	}
	want := first.Clone().Decode("", newTestSpec())
	first.Remember(&Checked{})
	for range 2 {
		if got := first.Clone().Decode("", newTestSpec()); len(want) != 1 || !cmp.Equal(got, want) {
			t.Errorf("%v, must be %v", got, want)
		}
	}
}

func sameRaw(a, b Raw) bool { return a.Text() == b.Text() }
