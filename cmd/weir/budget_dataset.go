package main

import (
	"context"
	"path"
	"slices"

	"weir/pipeline/spec"
	"weir/privacy/ledger"
)

// budgetReport is what weir budget check --json prints.
type budgetReport struct {
	OK       bool            `json:"ok"`
	Against  string          `json:"against"`
	Commit   string          `json:"commit"`
	Datasets []budgetDataset `json:"datasets"`
	Notes    []string        `json:"notes"`
}

// budgetDataset is how one dataset stands.
type budgetDataset struct {
	Dataset  string       `json:"dataset"`
	Ledger   string       `json:"ledger,omitempty"`
	Charges  int          `json:"charges"` // that the ledger has, then or now
	Specs    []budgetSpec `json:"specs"`
	Budgets  []budgetCap  `json:"budgets"`
	Loosened []string     `json:"loosened"`
}

// budgetSpec is what a spec plans.
type budgetSpec struct {
	Spec   string `json:"spec"`
	Change string `json:"change"` // same, changed, new, gone, cannot run
	Before int    `json:"runs_before"`
	Now    int    `json:"runs_now"`
}

// budgetCap is how planned spending stands to one budget of the revision. Epsilons are by
// its filter, at its delta; nil where nothing is proven.
type budgetCap struct {
	Spec      string   `json:"spec"` // that sets it
	Epsilon   float64  `json:"epsilon"`
	Delta     float64  `json:"delta"`
	Filter    string   `json:"filter"`
	Unit      string   `json:"privacy_unit"`
	Adjacency string   `json:"adjacency"`
	Spent     *float64 `json:"spent"`
	Before    *float64 `json:"with_planned_before"`
	Now       *float64 `json:"with_planned_now"`
	Over      bool     `json:"over"`
	Grown     bool     `json:"grown"`
	Why       string   `json:"why,omitempty"`
}

func (d budgetDataset) refused() bool {
	return slices.ContainsFunc(d.Budgets, func(b budgetCap) bool { return b.Over && b.Grown })
}

// check judges every dataset of the specs.
func (b *budgeting) check(ctx context.Context, args []string) (r budgetReport, err error) {
	pairs, err := b.load(ctx, args)
	if err != nil {
		return r, err
	}
	caps, err := b.budgets(pairs, len(args) > 0)
	if err != nil {
		return r, err
	}
	r = budgetReport{OK: true, Against: b.against, Commit: b.then.id, Datasets: []budgetDataset{}}
	for _, key := range datasets(pairs) {
		d, err := b.dataset(key, pairs, caps)
		if err != nil {
			return r, err
		}
		r.OK = r.OK && !d.refused()
		r.Datasets = append(r.Datasets, d)
	}
	r.Notes = append([]string{}, b.notes...)
	return r, nil
}

// datasets lists those that a spec reads or read. A spec that names another one than
// before belongs to both.
func datasets(pairs []specPair) (keys []string) {
	for _, p := range pairs {
		for _, s := range []*specState{p.then, p.now} {
			if s != nil && !slices.Contains(keys, s.dataset) {
				keys = append(keys, s.dataset)
			}
		}
	}
	return keys
}

// setBudget is a budget of the revision and the spec that sets it.
type setBudget struct {
	spec string
	namedData
	cap ledger.Cap
}

// budgets are those of the revision: of the specs that are checked, and of all others.
func (b *budgeting) budgets(pairs []specPair, others bool) (caps []setBudget, err error) {
	known := map[string]bool{}
	for _, p := range pairs {
		known[p.path] = true
		if p.then != nil && p.then.cap != nil {
			caps = append(caps, setBudget{p.path, p.then.namedData, *p.then.cap})
		}
	}
	if !others {
		return caps, nil
	}
	names, err := b.tracked()
	for _, name := range names {
		if known[name] {
			continue
		}
		if sp, err := b.then.spec(name, spec.Trial{}); err == nil && sp.Dataset.Budget != nil {
			of, _ := b.datasetOf(path.Dir(name), sp)
			caps = append(caps, setBudget{name, of, *capOf(sp)})
		}
	}
	return caps, err
}

// dataset judges one dataset by each budget that the revision has for it.
func (b *budgeting) dataset(key string, pairs []specPair, caps []setBudget) (budgetDataset, error) {
	d := budgetDataset{Specs: []budgetSpec{}, Budgets: []budgetCap{}, Loosened: []string{}}
	before, now, err := b.spent(key)
	if err != nil {
		return d, err
	}
	if len(now) > 0 {
		d.Ledger, d.Charges = key, len(now)
	}
	var then, planned []plannedRun
	here := on(key, names(pairs, caps))
	for _, p := range pairs {
		if was, in := d.add(here, p); in {
			then, planned = append(then, was...), append(planned, p.now.runs()...)
		}
	}
	open, err := unpaid(then, before)
	if err != nil {
		return d, err
	}
	opened, err := unpaid(planned, now)
	if err != nil {
		return d, err
	}
	for _, c := range caps {
		if here(c.namedData) && !slices.ContainsFunc(d.Budgets, func(b budgetCap) bool { return b.same(c.cap) }) {
			d.Budgets = append(d.Budgets, judge(c, before, now, open, opened))
		}
	}
	d.Loosened = append(d.Loosened, loosened(key, pairs)...)
	return d, nil
}

// runs are those of a spec; none where it is not there.
func (s *specState) runs() bill {
	if s == nil {
		return nil
	}
	return s.bill
}

// add lists a spec that is, or was, on the dataset, and gives its runs of then.
func (d *budgetDataset) add(here func(namedData) bool, p specPair) (then bill, in bool) {
	was, is := p.then != nil && here(p.then.namedData), p.now != nil && here(p.now.namedData)
	if !was && !is {
		return nil, false
	}
	s := budgetSpec{Spec: p.path, Change: "changed", Now: len(p.now.runs())}
	if was {
		d.Dataset, then = p.then.shown, p.then.bill
	} else {
		d.Dataset = p.now.shown
	}
	switch {
	case p.fault != "":
		s.Change = "cannot run"
	case p.now == nil:
		s.Change = "gone"
	case !was:
		s.Change = "new"
	case p.then.digest == p.now.digest:
		s.Change = "same"
	}
	s.Before = len(then)
	d.Specs = append(d.Specs, s)
	return then, true
}
