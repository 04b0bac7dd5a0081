package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"weir/privacy/ledger"
	"weir/privacy/noise"
)

// owner is what the owner of a dataset keeps of it. It is never committed: with
// the key, guesses of the content can be tested.
type owner struct {
	ID          string    `json:"id"`
	Key         secret    `json:"key"`
	Contents    []content `json:"contents"`
	Parts       []string  `json:"parts,omitempty"`  // HMACs of single files of a table in several, by which each is known alone
	Tables      []string  `json:"tables,omitempty"` // where the table is, if it lies in no file
	Ledger      string    `json:"ledger,omitempty"`
	LedgerCount int       `json:"ledger_count"`
	LedgerHead  string    `json:"ledger_head,omitempty"`
}

// secret is a key that is written as it is, into files of the owner's side, and
// printed as its commitment everywhere else.
type secret struct{ noise.Key }

func (s secret) MarshalText() ([]byte, error) { return []byte(s.Hex()), nil }

func (s *secret) UnmarshalText(text []byte) (err error) {
	s.Key, err = noise.ParseKey(string(text))
	return err
}

// valid checks what was read; the id becomes a file name, so it must be one.
func (o *owner) valid() error {
	switch {
	case !validID(o.ID):
		return errors.New("has no id of the form ds- and 32 hex digits")
	case o.Key.Key == noise.Key{}:
		return errors.New("has no key")
	case o.LedgerCount < 0 || (o.LedgerCount > 0) != (o.LedgerHead != ""):
		return errors.New("has a ledger_count without a ledger_head, or the other way round")
	}
	return nil
}

func validID(id string) bool {
	hex, is := strings.CutPrefix(id, "ds-")
	return is && len(hex) == 32 && strings.Trim(hex, "0123456789abcdef") == ""
}

// known reports whether the content was seen, under any version, or as a part of one.
func (o *owner) known(mac string) bool {
	return slices.Contains(o.Parts, mac) || slices.ContainsFunc(o.Contents, func(c content) bool { return c.HMAC == mac })
}

// hasPart notes a single file of a table in several.
func (o *owner) hasPart(mac string) {
	if !slices.Contains(o.Parts, mac) {
		o.Parts = append(o.Parts, mac)
	}
}

// liesAt notes where a table is that lies in no file; "" is one that does.
func (o *owner) liesAt(where string) {
	if where != "" && !slices.Contains(o.Tables, where) {
		o.Tables = append(o.Tables, where)
	}
}

// join takes up what another file of the same dataset knows. Nothing is lost:
// contents add up, and the longer ledger counts; two that are both there are refused.
func (o *owner) join(other *owner) error {
	if other.ID != o.ID || other.Key != o.Key {
		return fmt.Errorf("is of another dataset or has another key than %s, must have the same", o.ID)
	}
	if other.LedgerCount > 0 {
		if err := o.secondLedger(other.Ledger); err != nil {
			return err
		}
	}
	for _, c := range other.Contents {
		o.take(c)
	}
	for _, mac := range other.Parts {
		o.hasPart(mac)
	}
	for _, where := range other.Tables {
		o.liesAt(where)
	}
	o.note(other.Ledger, other.head())
	return nil
}

// note keeps the longest ledger seen; a shorter one is older, or was cut.
func (o *owner) note(path string, head ledger.Head) {
	if head.Count > o.LedgerCount || o.Ledger == "" {
		o.Ledger, o.LedgerCount, o.LedgerHead = path, head.Count, head.Hash
	}
	if o.LedgerCount == 0 {
		o.LedgerHead = "" // the head of an empty ledger says nothing
	}
}

func (o *owner) head() ledger.Head { return ledger.Head{Count: o.LedgerCount, Hash: o.LedgerHead} }
