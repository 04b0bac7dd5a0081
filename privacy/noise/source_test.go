package noise

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
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

func TestKeyHexRoundTrips(t *testing.T) {
	k, err := NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := ParseKey(k.Hex()); err != nil || back != k {
		t.Errorf("ParseKey(Hex()) is not the key: %v", err)
	}
}

func TestKeyRefusesBadText(t *testing.T) {
	secret := strings.Repeat("ab", 31)
	for _, s := range []string{"", secret, secret + "a", secret + "zz", secret + "ab\n"} {
		if _, err := ParseKey(s); err == nil || strings.Contains(err.Error(), "abab") {
			t.Errorf("ParseKey(%d characters) gives error %v, must refuse and not quote", len(s), err)
		}
	}
	if _, err := NewKey(io.LimitReader(rand.Reader, 31)); err == nil {
		t.Error("NewKey takes 31 bytes for a key")
	}
}

// TestCommitment: SHA-256 of 32 zero bytes, from sha256sum.
func TestCommitment(t *testing.T) {
	const want = "sha256:66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925"
	if got := (Key{}).Commitment(); got != want {
		t.Errorf("commitment of the zero key is %s, must be %s", got, want)
	}
}

func TestNothingPrintsTheKey(t *testing.T) {
	k := Key(bytes.Repeat([]byte{0xab}, 32))
	source := NewSource(k, "train")
	stream := mustStream(source, "g", 0)
	stream.Uint64()
	text, _ := json.Marshal(map[string]any{"key": k, "keys": []Key{k}})
	out := string(text)
	value := reflect.ValueOf(source).Elem() // fmt prints the Source itself, without its methods
	inside := struct{ s *Source }{source}
	for _, v := range []any{k, &k, []Key{k}, struct{ K Key }{k}, source, value, inside, &inside, stream} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%X", "%d", "%q"} {
			out += fmt.Sprintf(verb, v)
		}
	}
	for _, leak := range []string{"abab", "ABAB", "171 171", "0xab", "171, 171"} {
		if strings.Contains(out, leak) {
			t.Errorf("printing shows %q of the key", leak)
		}
	}
}
