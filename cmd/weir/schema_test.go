package main

import (
	"encoding/json"
	"slices"
	"testing"

	"weir/privacy/account"
)

// TestSchemaNamesEveryAccountant: a tag must be a literal, so this holds the one of the
// spec to the list of the accountants.
func TestSchemaNamesEveryAccountant(t *testing.T) {
	code, out, errs := study{t, ""}.weir("schema")
	var doc struct {
		Properties map[string]struct {
			Properties map[string]struct {
				Enum    []string
				Default any
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != exitDone {
		t.Fatalf("exit code %d, %v: %s", code, err, errs)
	}
	if got := doc.Properties["privacy"].Properties["accountant"]; !slices.Equal(got.Enum, account.Names()) ||
		got.Default != account.Default {
		t.Errorf("a spec takes %+v, must take %v and be %s by default", got, account.Names(), account.Default)
	}
}
