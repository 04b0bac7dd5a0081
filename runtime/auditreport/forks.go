package auditreport

import (
	"fmt"
	"slices"

	"weir/pipeline/words"
	"weir/privacy/ledger"
)

// branch is a ledger as it was read.
type branch struct {
	path    string
	entries []ledger.Entry
}

// equals reports whether two ledgers hold the same charges, such as one that is named twice.
func (b branch) equals(c branch) bool {
	return len(b.entries) > 0 && len(ledger.Lacking(b.entries, c.entries))+len(ledger.Lacking(c.entries, b.entries)) == 0
}

// forks lists what ledgers of one dataset lack of each other, and what all of their charges come to: each of them, read
// alone, shows too little. A fork arises where a table was copied with its ledger, or in two branches of git.
func forks(branches []branch, q ledger.Measure) ([]string, error) {
	var list []string
	union := branches[0].entries
	for _, b := range branches[1:] {
		first := branches[0]
		lost, added := ledger.Lacking(b.entries, first.entries), ledger.Lacking(first.entries, b.entries)
		if len(lost)+len(added) > 0 {
			list = append(list, fmt.Sprintf("%s lacks %s of %s, which lacks %s of it", first.path,
				words.Plural(len(added), "charge"), b.path, words.Plural(len(lost), "charge")))
		}
		union = append(slices.Clone(union), ledger.Lacking(union, b.entries)...)
	}
	if list == nil {
		return nil, nil
	}
	o, err := ledger.Look(union, q)
	if err != nil {
		return nil, err
	}
	return append(list, "the ledgers of this dataset together: "+words.Plural(len(union), "charge")+total(o)+
		"; weir ledger merge makes one of them"), nil
}

// fork tells in the first account of each dataset what its ledgers lack of each other.
func (r *Report) fork(read map[string][]branch, q ledger.Measure) error {
	for i := range r.Accounts {
		a := &r.Accounts[i]
		branches := read[a.Dataset]
		if a.Dataset == "" || len(branches) < 2 || a.Ledger != branches[0].path {
			continue
		}
		list, err := forks(branches, q)
		if err != nil {
			return fmt.Errorf("%s: %w", a.Ledger, err)
		}
		a.Disagree = append(a.Disagree, list...)
	}
	return nil
}

// total says what the charges come to, and whether that is within the last budget.
func total(o ledger.Overview) string {
	text := ", composed epsilon " + bound(o.Fixed.Epsilon, "").text() + fmt.Sprintf(" at delta %g", o.Fixed.Delta)
	if b := o.Balance; b != nil {
		text += fmt.Sprintf(", %s spent of %.6g", bound(b.Spent, "").text(), b.Cap.Epsilon)
		if !(b.Spent <= b.Cap.Epsilon) {
			text += ", which is exceeded"
		}
	}
	return text
}
