package pipeline

import (
	"maps"
	"slices"
)

// Reader reads back what a kind releases in one format. What it makes of it is between the kind and the stages that
// read models (stages/model/artifact); no stage needs to know the kinds of another family.
type Reader interface {
	Reads() (format int)
	Scores() bool // it makes what rows are scored by, else a model that rows are drawn from
}

// Readers holds the readers of kinds by the name of the kind, which stands in what it releases.
type Readers map[string][]Reader

// ReadersOf collects the readers of kinds.
func ReadersOf(kinds []Kind) Readers {
	r := Readers{}
	for _, k := range kinds {
		if len(k.Readers) > 0 {
			r[k.Name] = k.Readers
		}
	}
	return r
}

// Scoring lists the kinds by whose models or detectors rows are scored.
func (r Readers) Scoring() (kinds []string) {
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if slices.ContainsFunc(r[name], Reader.Scores) {
			kinds = append(kinds, name)
		}
	}
	return kinds
}
