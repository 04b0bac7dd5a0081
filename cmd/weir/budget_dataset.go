package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"slices"
	"strings"

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
	spec, dataset string
	cap           ledger.Cap
}

// budgets are those of the revision: of the specs that are checked, and of all others.
func (b *budgeting) budgets(pairs []specPair, others bool) (caps []setBudget, err error) {
	known := map[string]bool{}
	for _, p := range pairs {
		known[p.path] = true
		if p.then != nil && p.then.cap != nil {
			caps = append(caps, setBudget{p.path, p.then.dataset, *p.then.cap})
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
			key, _ := datasetOf(path.Dir(name), sp)
			caps = append(caps, setBudget{name, key, *capOf(sp)})
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
	for _, p := range pairs {
		if was, in := d.add(key, p); in {
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
		if c.dataset == key && !slices.ContainsFunc(d.Budgets, func(b budgetCap) bool { return b.same(c.cap) }) {
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
func (d *budgetDataset) add(key string, p specPair) (then bill, in bool) {
	was, is := p.then != nil && p.then.dataset == key, p.now != nil && p.now.dataset == key
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

func (b budgetCap) same(c ledger.Cap) bool {
	return b.Epsilon == c.Epsilon && b.Delta == c.Delta && b.Unit == c.Unit.String() && b.Adjacency == string(c.Adjacency) && strings.HasPrefix(b.Filter, c.Filter)
}

// judge holds what is spent and planned against a budget, by its filter.
func judge(c setBudget, before, now, then, planned []ledger.Entry) budgetCap {
	j := budgetCap{Spec: c.spec, Epsilon: c.cap.Epsilon, Delta: c.cap.Delta, Filter: c.cap.Filter, Unit: c.cap.Unit.String(), Adjacency: string(c.cap.Adjacency)}
	filter, err := c.cap.Admit(now, planned)
	var over *ledger.OverBudgetError
	j.Over = err != nil
	switch {
	case errors.As(err, &over):
		filter, j.Why = over.Filter, over.Why
	case err != nil: // another filter than the ledger's, or an event that it cannot measure
		j.Grown, j.Why = len(now)+len(planned) > len(before)+len(then), err.Error()
		return j
	}
	j.Filter = filter.String()
	spent, _ := sumBy(filter, c.cap, now)
	old, counted := sumBy(filter, c.cap, before, then)
	all, more := sumBy(filter, c.cap, now, planned)
	j.Spent, j.Before, j.Now = orNil(spent), orNil(old), orNil(all)
	j.Grown = all > old*(1+1e-9) || math.IsInf(all, 1) && more > counted
	return j
}

// sumBy adds charges up by a filter; +Inf where nothing is proven. It counts them too.
func sumBy(f ledger.Filter, c ledger.Cap, lists ...[]ledger.Entry) (float64, int) {
	all := slices.Concat(lists...)
	t, err := ledger.SumFilter(all, f, c.Adjacency, c.Unit, c.Delta)
	if err != nil {
		return math.Inf(1), len(all)
	}
	return t.Epsilon, len(all)
}

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
	data, err := b.then.read(key, mostOfLedger)
	if err == nil {
		if before, err = ledger.Parse(data); err != nil {
			return nil, nil, ledgerFault(b.against+":"+key, err)
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
