package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"weir/privacy/ledger"
)

// unpaid are planned charges that the ledger does not have. A charge is known by the recipe
// of its stage, so what several specs share, and what an edit of a later stage leaves as
// it was, counts once; by the spec where a stage reads further files.
func unpaid(planned []plannedRun, spent []ledger.Entry) (open []ledger.Entry, err error) {
	id, paid := "", map[string]int{}
	for _, e := range spent {
		id = e.Dataset
		paid[chargeKey(e)]++
		e.Recipe = ""
		paid[chargeKey(e)]++
	}
	for _, r := range planned {
		charges, err := r.charges(id)
		if err != nil {
			return nil, err
		}
		for _, e := range charges {
			switch key := chargeKey(e); {
			case paid[key] == 0:
				open = append(open, e)
				if e.Recipe != "" {
					paid[key] = 1 // a second stage of this recipe is the same release
				}
			case e.Recipe == "":
				paid[key]-- // the next repeat is another charge
			}
		}
	}
	return open, nil
}

func chargeKey(e ledger.Entry) string {
	if e.Recipe != "" {
		return e.Recipe + "\x00" + e.Name
	}
	return e.Spec + "\x00" + e.Stage + "\x00" + e.Name
}

// spent are the charges of the dataset's ledger in the revision, and of that ledger and
// the one that lies there now: none is lost by taking its line out.
func (b *budgeting) spent(key string) (before, now []ledger.Entry, err error) {
	if strings.HasPrefix(key, "demo: ") {
		return nil, nil, nil
	}
	if filepath.IsLocal(filepath.FromSlash(key)) { // one outside of the repository is not committed
		if before, err = b.then.ledger(key); err != nil {
			return nil, nil, err
		}
	}
	if _, err := os.Stat(b.place(key)); err == nil {
		if now, err = readLedger(b.place(key)); err != nil {
			return nil, nil, err
		}
	}
	have := map[string]bool{}
	for _, e := range now {
		have[e.Identity()] = true
	}
	lost := 0
	for _, e := range before {
		if !have[e.Identity()] {
			now, lost = append(now, e), lost+1
		}
	}
	if lost > 0 {
		b.notes = append(b.notes, fmt.Sprintf("%s lacks %s of %s, which still counts", key, plural(lost, "charge"), b.against))
	}
	return before, now, nil
}
