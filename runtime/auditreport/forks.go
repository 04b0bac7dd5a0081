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

// parts says what two ledgers of one dataset lack of each other.
func (b branch) parts(c branch) string {
	lost, added := len(ledger.Lacking(c.entries, b.entries)), len(ledger.Lacking(b.entries, c.entries))
	switch {
	case lost == 0:
		return fmt.Sprintf("%s lacks %s of %s", b.path, words.Plural(added, "charge"), c.path)
	case added == 0:
		return fmt.Sprintf("%s lacks %s of %s", c.path, words.Plural(lost, "charge"), b.path)
	}
	return fmt.Sprintf("%s lacks %s of %s, which lacks %s of it", b.path, words.Plural(added, "charge"), c.path,
		words.Plural(lost, "charge"))
}

// forks lists what the first of some ledgers of one dataset and each other lack of each other, and what all of their
// charges come to: each ledger, read alone, shows too little. A fork arises where a table was copied with its ledger,
// or in two branches of git.
func forks(branches []branch, q ledger.Measure) (list []string) {
	chains := [][]ledger.Entry{branches[0].entries}
	for _, b := range branches[1:] {
		list = append(list, branches[0].parts(b))
		chains = append(chains, b.entries)
	}
	union, err := ledger.Together(chains...)
	var o ledger.Overview
	if err == nil {
		o, err = ledger.Look(union, q)
	}
	if err != nil {
		return append(list, "what the ledgers of this dataset come to together cannot be told: "+err.Error())
	}
	return append(list, "the ledgers of this dataset together: "+words.Plural(len(union), "charge")+total(o)+
		"; weir ledger merge makes one of them")
}

// fork tells in the first account of each dataset what its ledgers lack of each other.
func (r *Report) fork(read map[string][]branch, q ledger.Measure) {
	count := map[string]int{}
	for _, a := range r.Accounts {
		count[a.Dataset]++
	}
	for i := range r.Accounts {
		a := &r.Accounts[i]
		a.oneOfMany = a.Dataset != "" && count[a.Dataset] > 1
		branches := read[a.Dataset]
		if a.Dataset != "" && len(branches) > 1 && a.Ledger == branches[0].path {
			a.Disagree = append(a.Disagree, forks(branches, q)...)
		}
	}
}

// twin reports whether the charges of b were reported on, and whether the report that has them, or one of the same
// ledger, has all that disagrees in a.
func (r *Report) twin(read []branch, b branch, a Account) (equal, complete bool) {
	for _, c := range r.Accounts {
		i := slices.IndexFunc(read, func(d branch) bool { return d.path == c.Ledger })
		complete = complete || c.Ledger == a.Ledger || i >= 0 && read[i].equals(b) &&
			!slices.ContainsFunc(a.Disagree, func(why string) bool { return !slices.Contains(c.Disagree, why) })
	}
	return slices.ContainsFunc(read, b.equals), complete
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
