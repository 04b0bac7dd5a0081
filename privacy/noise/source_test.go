package noise

import (
	"errors"
	"fmt"
	"testing"
)

// TestSiteIsServedOnce: who asks again gets other numbers and an error, and those
// numbers depend on how often it was asked and nothing else.
func TestSiteIsServedOnce(t *testing.T) {
	s, seen := NewSource(Key{3}, "charge"), map[uint64]bool{}
	for i := range 4 {
		st, err := s.Stream("purpose", 1)
		if errors.Is(err, ErrReused) != (i > 0) {
			t.Errorf("asked for the %d. time: error %v", i+1, err)
		}
		if v := st.Uint64(); seen[v] {
			t.Errorf("asked for the %d. time: the numbers of an earlier stream", i+1)
		} else {
			seen[v] = true
		}
	}
	for _, site := range []struct {
		purpose string
		index   uint64
	}{{"purpose", 2}, {"other", 1}} {
		if _, err := s.Stream(site.purpose, site.index); err != nil {
			t.Errorf("%+v: %v", site, err)
		}
	}
}

// TestUsesDiffer: every use has numbers of its own, and sites of its own.
func TestUsesDiffer(t *testing.T) {
	s, seen := NewSource(Key{3}, "charge"), map[uint64]string{}
	for i, use := range []*Source{s, s.Use(0), s.Use(1), s.Use(2), s.Use(1 << 40)} {
		v := mustStream(use, "purpose", 0).Uint64()
		if other, ok := seen[v]; ok {
			t.Errorf("use %d begins like %s", i, other)
		}
		seen[v] = fmt.Sprint("use ", i)
	}
	if again := mustStream(NewSource(Key{3}, "charge").Use(1), "purpose", 0).Uint64(); seen[again] != "use 2" {
		t.Errorf("a use does not repeat itself: it is %q", seen[again])
	}
}

// TestSourceIsShared asks for one site from many goroutines: one of them is first.
func TestSourceIsShared(t *testing.T) {
	s, served := NewSource(Key{3}, "charge"), make(chan bool)
	for range 50 {
		go func() {
			_, err := s.Stream("purpose", 0)
			served <- err == nil
		}()
	}
	first := 0
	for range 50 {
		if <-served {
			first++
		}
	}
	if first != 1 {
		t.Errorf("%d goroutines are served, must be one", first)
	}
}
