package privacy

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"weir/privacy/noise"
)

// fake is a mechanism with a number of uses.
type fake struct{ uses int64 }

func (fake) Check() error                      { return nil }
func (fake) Event(Adjacency) Event             { return Gaussian{1} }
func (fake) Sensitivity(Adjacency) Sensitivity { return Sensitivity{Norm: L2, Bound: 1} }
func (f fake) Uses() int64                     { return f.uses }

// fakeFilter has a total.
type fakeFilter struct {
	fake
	total float64
}

func (f fakeFilter) Total() float64 { return f.total }

func opened(m Mechanism, resumable bool, p Probe) *Handle {
	sample := int64(0)
	if resumable {
		sample = 4
	}
	return Open(Opening{Spend: "counts", Mechanism: m, Source: noise.NewSource(noise.Key{1}, "test"), Drawn: sample,
		Probe: p})
}

func first(t *testing.T, u *Use, err error) uint64 {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return Release(u, 0, u.Stream("site", 0).Uint64())
}

// TestUsesThatReleaseNothing, and one that releases twice, are faults: noise that
// is drawn and not added protects nobody.
func TestUsesThatReleaseNothing(t *testing.T) {
	for name, releases := range map[string]int{"none": 0, "two": 2} {
		h := opened(fake{1}, false, nil)
		u, err := h.Next()
		if err != nil {
			t.Fatal(err)
		}
		for range releases {
			Release(u, 0, 0)
		}
		if err := h.Close(); !errors.Is(err, ErrUses) {
			t.Errorf("%s: closed %v, must be %v", name, err, ErrUses)
		}
	}
}

// TestUsesAreTakenOnce, in any order, by Use and Next alike, each with noise of its
// own that depends on its index alone.
func TestUsesAreTakenOnce(t *testing.T) {
	const n = 200
	a, b, seen := opened(fake{n}, false, nil), opened(fake{n}, false, nil), map[uint64]bool{}
	var inOrder [n]uint64
	for i := range n {
		u, err := a.Next()
		inOrder[i] = first(t, u, err)
		if seen[inOrder[i]] {
			t.Fatalf("use %d has the noise of another", i)
		}
		seen[inOrder[i]] = true
	}
	for i := range int64(n) {
		u, err := b.Use(n - 1 - i)
		if got := first(t, u, err); got != inOrder[n-1-i] {
			t.Fatalf("use %d has other noise out of order", n-1-i)
		}
	}
	for name, h := range map[string]*Handle{"in order": a, "reversed": b} {
		if err := h.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := b.Use(7); !errors.Is(err, ErrUses) || !errors.Is(b.Close(), ErrUses) {
		t.Errorf("a use taken twice: %v, closed %v", err, b.Close())
	}
}

func TestUsesBeyondThePlan(t *testing.T) {
	for name, take := range map[string]func(*Handle) (*Use, error){
		"below":  func(h *Handle) (*Use, error) { return h.Use(-1) },
		"beyond": func(h *Handle) (*Use, error) { return h.Use(3) },
		"fourth": func(h *Handle) (*Use, error) { return h.Next() },
		"round":  func(h *Handle) (*Use, error) { return h.Round(1) },
	} {
		h := opened(fake{3}, false, nil)
		for range 3 {
			if _, err := h.Next(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := take(h); !errors.Is(err, ErrUses) || !strings.Contains(err.Error(), "counts") {
			t.Errorf("%s: %v, must wrap ErrUses and name the spend", name, err)
		}
		if !errors.Is(h.Close(), ErrUses) {
			t.Errorf("%s: a dropped error is not found at Close", name)
		}
	}
	h := opened(fake{3}, false, nil)
	if _, err := h.Next(); err != nil || !errors.Is(h.Close(), ErrUses) {
		t.Errorf("one of three uses: %v, closed %v", err, h.Close())
	}
}

// TestUsesOfManyGoroutines takes each use from 16 goroutines: one of them gets it.
func TestUsesOfManyGoroutines(t *testing.T) {
	h := opened(fake{1000}, false, nil)
	var got [16]int
	var wait sync.WaitGroup
	for g := range got {
		wait.Go(func() {
			for i := range int64(1000) {
				if _, err := h.Use(i); err == nil {
					got[g]++
				}
			}
		})
	}
	wait.Wait()
	sum := 0
	for _, n := range got {
		sum += n
	}
	if sum != 1000 || h.count != 1000 {
		t.Errorf("%d uses given out, %d counted, must be 1000", sum, h.count)
	}
}

// TestStreamTwice: a site that a use asks for twice is a fault at Close.
func TestStreamTwice(t *testing.T) {
	h := opened(fake{1}, false, nil)
	u, err := h.Next()
	if err != nil {
		t.Fatal(err)
	}
	a := Release(u, 0, u.Stream("site", 0).Uint64())
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if b := u.Stream("site", 0).Uint64(); a == b || !errors.Is(h.Close(), noise.ErrReused) {
		t.Errorf("the second time %d after %d, closed %v", b, a, h.Close())
	}
}

func TestResume(t *testing.T) {
	fresh, h := opened(fake{5}, false, nil), opened(fake{5}, true, nil)
	if err := h.Resume(3); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		u, err := fresh.Next()
		want := first(t, u, err)
		if i < 3 {
			continue
		}
		if u, err = h.Next(); first(t, u, err) != want {
			t.Errorf("use %d has other noise after a resume", i)
		}
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if _, err := h.Use(1); err == nil {
		t.Error("a use of the interrupted attempt is taken again")
	}
	for name, c := range map[string]struct {
		drawn bool
		taken int
		n     int64
	}{"nothing drawn": {false, 0, 3}, "begun": {true, 1, 3}, "too many": {true, 0, 6}, "negative": {true, 0, -1}} {
		h := opened(fake{5}, c.drawn, nil)
		for range c.taken {
			h.Next()
		}
		if err := h.Resume(c.n); !errors.Is(err, ErrUses) || !errors.Is(h.Close(), ErrUses) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := opened(fake{5}, false, nil).Resume(0); err != nil {
		t.Error(err)
	}
}

// swap puts an output in the place of any.
type swap struct {
	seen []Released
	by   any
}

func (s *swap) Release(r Released) any {
	s.seen = append(s.seen, r)
	return s.by
}

// TestReleaseIsSeen: a probe sees spend, use, in and out, and replaces the output by
// one of the same type only; without one the output stays.
func TestReleaseIsSeen(t *testing.T) {
	s := &swap{by: 42}
	h := opened(fake{2}, false, s)
	u, _ := h.Next()
	if got := Release(u, []float64{1, 2}, 7); got != 42 || !u.Probed() {
		t.Errorf("released %d, must be 42", got)
	}
	u, _ = h.Next()
	if got := Release(u, []int64{1}, []int64{8}); got[0] != 8 {
		t.Errorf("an int is handed on for []int64: %v", got)
	}
	if len(s.seen) != 2 || s.seen[0].Spend != "counts" || s.seen[1].Use != 1 || s.seen[0].Out != 7 ||
		s.seen[0].In.([]float64)[1] != 2 || s.seen[0].Mechanism != (fake{2}) {
		t.Errorf("seen %+v", s.seen)
	}
	u, _ = opened(fake{1}, false, nil).Next()
	if got := Release(u, 0.5, 1.5); got != 1.5 || u.Probed() {
		t.Errorf("without a probe: %g", got)
	}
}

func TestOrdinals(t *testing.T) {
	for n, want := range map[int64]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th",
		21: "21st", 102: "102nd", 111: "111th", 113: "113th"} {
		if got := ordinal(n); got != want {
			t.Errorf("%d: %s, must be %s", n, got, want)
		}
	}
}

// coin is a mechanism of two uses.
type coin struct{ Mechanism }

func (coin) Uses() int64 { return 2 }

// watch takes down streams and gives the same thing for every output.
type watch struct {
	streams []string
	gives   any
}

func (w *watch) Release(Released) any { return w.gives }
func (w *watch) Stream(spend string, _ int64, purpose string, _ uint64) {
	w.streams = append(w.streams, spend+" "+purpose)
}

// TestProbeReplacesOrFails: a probe sees each stream, and replaces what comes out by a value of its type;
// another type would leave the original in place without a word, so it is a fault.
func TestProbeReplacesOrFails(t *testing.T) {
	for _, c := range []struct {
		gives any
		want  float64
		fault string
	}{{7.5, 7.5, ""}, {float32(7.5), 1, "float32 for float64"}} {
		w := &watch{gives: c.gives}
		h := Open(Opening{Spend: "coin", Mechanism: coin{}, Source: noise.NewSource(noise.Key{1}, "probe"), Probe: w})
		for range 2 {
			u, err := h.Next()
			if err != nil {
				t.Fatal(err)
			}
			u.Stream("throw", 0)
			if got := Release(u, 0, 1.0); got != c.want {
				t.Errorf("%T: %g comes out, must be %g", c.gives, got, c.want)
			}
		}
		if err := h.Close(); (c.fault == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%T: closes with %v, want %q", c.gives, err, c.fault)
		}
		if h.Taken() != 2 || strings.Join(w.streams, ", ") != "coin throw, coin throw" {
			t.Errorf("%d uses with the streams %v", h.Taken(), w.streams)
		}
	}
}
