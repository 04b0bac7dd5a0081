package main

import (
	"os"
	"path/filepath"
	"slices"

	"weir/pipeline/spec"
	"weir/privacy/ledger"
	"weir/runtime/dataset"
)

// namedData is what a spec calls its dataset, told without opening it. Paths are from the
// top of the repository.
type namedData struct {
	dataset string // place of its ledger, or its name where no file holds its rows
	file    string // place of the table, links followed; "" where no file holds its rows
	id      string // of the ledger, then or now; "" where nothing was charged
}

// same tells whether two names are of one dataset: by the place of the ledger, the table or
// the id that a ledger keeps wherever it is moved.
func (n namedData) same(o namedData) bool {
	return n.dataset == o.dataset || n.file != "" && n.file == o.file || n.id != "" && n.id == o.id
}

// on tells which names are of the dataset with a ledger's place, known by any of the names.
func on(key string, names []namedData) func(namedData) bool {
	return func(n namedData) bool {
		return slices.ContainsFunc(names, func(o namedData) bool { return o.dataset == key && n.same(o) })
	}
}

// names are all that specs and budgets call their datasets.
func names(pairs []specPair, caps []setBudget) (all []namedData) {
	for _, p := range pairs {
		for _, s := range []*specState{p.then, p.now} {
			if s != nil {
				all = append(all, s.namedData)
			}
		}
	}
	for _, c := range caps {
		all = append(all, c.namedData)
	}
	return all
}

// datasetOf names the dataset of a spec in a folder of the repository.
func (b *budgeting) datasetOf(folder string, sp *spec.Spec) (n namedData, shown string) {
	d := sp.Dataset
	n.dataset, shown = d.Declared.Name, d.Declared.Name
	if table := d.Declared.Table(); table != "" {
		n.file = b.home(folder, table)
		n.dataset, shown = dataset.LedgerName(n.file), n.file
	}
	if d.Ledger != "" {
		n.dataset = b.home(folder, d.Ledger)
	}
	n.id = b.idOf(n.dataset)
	return n, shown
}

// home is where a file that a spec names lies: in the repository where it can, whatever
// links lead there, else on this machine.
func (b *budgeting) home(folder, name string) string {
	at := filepath.FromSlash(name)
	if !filepath.IsAbs(at) {
		at = filepath.Join(b.then.top, filepath.FromSlash(folder), at)
	}
	at = linked(at)
	if rel, err := filepath.Rel(linked(b.then.top), at); err == nil && filepath.IsLocal(rel) {
		at = rel
	}
	return filepath.ToSlash(at)
}

// linked follows links, also to a table that is not on this machine.
func linked(at string) string {
	for range 40 { // which is where Linux gives up
		if dir, err := filepath.EvalSymlinks(filepath.Dir(at)); err == nil {
			at = filepath.Join(dir, filepath.Base(at))
		}
		to, err := os.Readlink(at)
		if err != nil {
			return at
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(at), to)
		}
		at = to
	}
	return at
}

// idOf is the id that the ledger at a place has, or had; what is wrong with it is told where
// it is added up.
func (b *budgeting) idOf(key string) string {
	var now []ledger.Entry
	then, _ := b.then.ledger(key)
	if _, err := os.Stat(b.place(key)); err == nil {
		now, _ = readLedger(b.place(key))
	}
	for _, e := range append(now, then...) {
		return e.Dataset
	}
	return ""
}
