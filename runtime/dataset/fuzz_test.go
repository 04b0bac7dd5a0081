package dataset

import (
	"encoding/json"
	"testing"

	"weir/privacy/noise"
)

// FuzzOwner reads any bytes as an owner file and as a record of the index: what is read can
// be written and is read again the same, or an error in fixed words, which quote no key
// and nothing else of the file.
func FuzzOwner(f *testing.F) {
	key := noise.Key{1}.Hex()
	f.Add([]byte(`{"id":"ds-00112233445566778899aabbccddeeff","key":"` + key +
		`","contents":[{"version":"1","hmac":"ab","seen":"2026-01-02T03:04:05Z"}],"ledger":"/l","ledger_count":1,"ledger_head":"sha256:1"}`))
	f.Add([]byte(`{"id":"ds-00112233445566778899aabbccddeeff","key":"` + key +
		`","contents":null,"ledger_count":0,"places":[{"path":"/a","owner":"/a.o"}],"index_hmacs":["x"],"sketch":[1,2,3]}`))
	f.Add([]byte(`{"id":"ds-00112233445566778899aabbccddeeff","key":"` + key + `","sketch":[3,2]}`))
	f.Add([]byte(`{"id":"../../x","key":"` + key + `"}`))
	f.Add([]byte(`{"key":"` + key[:63] + `"}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		check := func(v, again interface{ valid() error }) {
			if err := decode(data, v); err != nil {
				if !inFixedWords(err.Error()) {
					t.Fatalf("%q is not in fixed words", err)
				}
				return
			}
			text, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if err := decode(text, again); err != nil {
				t.Fatalf("is not read again: %v", err)
			}
			if twice, err := json.Marshal(again); err != nil || string(twice) != string(text) {
				t.Fatalf("%v: %s, was %s", err, twice, text)
			}
		}
		check(&owner{}, &owner{})
		check(&record{}, &record{})
	})
}

func inFixedWords(said string) bool {
	switch said {
	case "is not JSON as weir writes it", "has no id of the form ds- and 32 hex digits", "has no key",
		"has a ledger_count without a ledger_head, or the other way round", "has a sketch that is not sorted or is too long":
		return true
	}
	return false
}
