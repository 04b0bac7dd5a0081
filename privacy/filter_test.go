package privacy

import (
	"errors"
	"math"
	"testing"
)

// TestFilterSpendsItsTotal: rounds of any cost, each with noise of its own, up to the
// total and not beyond; no use without a cost.
func TestFilterSpendsItsTotal(t *testing.T) {
	h := opened(fakeFilter{fake{AnyNumber}, 1}, false, nil)
	a, err := h.Round(0.3)
	x := first(t, a, err)
	b, err := h.Round(0.7)
	if first(t, b, err) == x || h.Left() > 1e-15 || h.Close() != nil {
		t.Errorf("two rounds: %g is left, closed %v", h.Left(), h.Close())
	}
	for _, cost := range []float64{1e-9, 0, -1, math.NaN(), math.Inf(1)} {
		if _, err := h.Round(cost); !errors.Is(err, ErrUses) || h.Close() == nil {
			t.Errorf("a round of %g more: %v, closed %v", cost, err, h.Close())
		}
	}
	for name, take := range map[string]func(*Handle) (*Use, error){
		"next": (*Handle).Next, "use": func(h *Handle) (*Use, error) { return h.Use(0) },
	} {
		h := opened(fakeFilter{fake{AnyNumber}, 1}, false, nil)
		if _, err := take(h); !errors.Is(err, ErrUses) || h.Close() == nil {
			t.Errorf("%s: a use of a filter without a cost: %v, closed %v", name, err, h.Close())
		}
	}
}

// TestFilterCountsSmallCosts: costs that float64 swallows one by one add up.
func TestFilterCountsSmallCosts(t *testing.T) {
	h := opened(fakeFilter{fake{AnyNumber}, 2}, false, nil)
	if _, err := h.Round(1); err != nil {
		t.Fatal(err)
	}
	for range 1 << 12 {
		if _, err := h.Round(0x1p-53); err != nil {
			t.Fatal(err)
		}
	}
	if left := h.Left(); left != 1-0x1p-41 {
		t.Errorf("%.17g is left, must be 1 - 2^-41", left)
	}
}
