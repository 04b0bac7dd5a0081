package noise

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

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

// SHA-256 of 32 zero bytes, from sha256sum.
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
