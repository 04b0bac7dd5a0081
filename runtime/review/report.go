// Package review holds spending against the budgets of datasets before it happens: what a run would charge, in words,
// and what specs plan beside the budgets that a revision of their repository sets.
package review

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"weir/pipeline/words"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime"
)

// Report is what weir budget check --json prints.
type Report struct {
	OK       bool      `json:"ok"`
	Against  string    `json:"against"`
	Commit   string    `json:"commit"`
	Datasets []Dataset `json:"datasets"`
	Notes    []string  `json:"notes"`
}

// Dataset is how one dataset stands.
type Dataset struct {
	Dataset  string       `json:"dataset"`
	Ledger   string       `json:"ledger,omitempty"`
	Charges  int          `json:"charges"` // that the ledger has, then or now
	Specs    []SpecChange `json:"specs"`
	Budgets  []Standing   `json:"budgets"`
	Loosened []string     `json:"loosened"`
}

// SpecChange is what a spec plans.
type SpecChange struct {
	Spec   string `json:"spec"`
	Change string `json:"change"` // same, changed, new, gone, cannot run
	Before int    `json:"runs_before"`
	Now    int    `json:"runs_now"`
}

// Standing is how planned spending stands to one budget of the revision. Epsilons are by
// its filter, at its delta; nil where nothing is proven.
type Standing struct {
	Spec      string   `json:"spec"` // that sets it
	Epsilon   float64  `json:"epsilon"`
	Delta     float64  `json:"delta"`
	Filter    string   `json:"filter"`
	Unit      string   `json:"privacy_unit"`
	Adjacency string   `json:"adjacency"`
	Spent     *float64 `json:"spent"`
	Before    *float64 `json:"with_planned_before"`
	Now       *float64 `json:"with_planned_now"`
	Left      string   `json:"left,omitempty"` // dataset that the budget is of, where no spec names that any more
	Over      bool     `json:"over"`
	Grown     bool     `json:"grown"`
	Why       string   `json:"why,omitempty"`
}

func (d Dataset) refused() bool {
	return slices.ContainsFunc(d.Budgets, func(b Standing) bool { return b.Over && b.Grown })
}

// Report judges every dataset of the specs that paths name, or of all specs of the repository.
func (b *Check) Report(ctx context.Context, args []string) (r Report, err error) {
	pairs, err := b.load(ctx, args)
	if err != nil {
		return r, err
	}
	caps, err := b.budgets(pairs, len(args) > 0)
	if err != nil {
		return r, err
	}
	r = Report{OK: true, Against: b.Against, Commit: b.then.ID, Datasets: []Dataset{}}
	left := b.left(pairs, caps)
	heirs := b.inherit(left, pairs, names(pairs, caps))
	for _, key := range datasets(pairs) {
		d, err := b.dataset(key, pairs, caps)
		if err != nil {
			return r, err
		}
		for _, i := range heirs[key] {
			j, err := b.judgeLeft(left[i], holders(heirs, i), pairs, names(pairs, caps))
			if err != nil {
				return r, err
			}
			d.Budgets = append(d.Budgets, j)
		}
		r.OK = r.OK && !d.refused()
		r.Datasets = append(r.Datasets, d)
	}
	r.Notes = append([]string{}, b.notes...)
	return r, nil
}

// holders lists the datasets that are held to a budget, in order.
func holders(heirs map[string][]int, budget int) (keys []string) {
	for _, key := range slices.Sorted(maps.Keys(heirs)) {
		if slices.Contains(heirs[key], budget) {
			keys = append(keys, key)
		}
	}
	return keys
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
	shown string
	cap   ledger.Cap
}

// budgets returns the budgets of the revision: of the specs that are checked, and of all others.
func (b *Check) budgets(pairs []specPair, others bool) (caps []setBudget, err error) {
	known := map[string]bool{}
	for _, p := range pairs {
		known[p.path] = true
		if p.then != nil && p.then.cap != nil {
			caps = append(caps, setBudget{p.path, p.then.namedData, p.then.shown, *p.then.cap})
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
		if sp, err := b.then.Spec(name, b.Registry); err == nil {
			data, shown := b.datasetOf(path.Dir(name), sp)
			b.others.then = append(b.others.then, data)
			if sp.Dataset.Budget != nil {
				caps = append(caps, setBudget{name, data, shown, *capOf(sp)})
			}
		}
		if sp, err := runtime.LoadSpec(b.place(name), nil, b.Confine, b.Registry); err == nil {
			data, _ := b.datasetOf(path.Dir(name), sp)
			b.others.now = append(b.others.now, data)
		}
	}
	return caps, err
}

// dataset judges one dataset by each budget that the revision has for it.
func (b *Check) dataset(key string, pairs []specPair, caps []setBudget) (Dataset, error) {
	d := Dataset{Specs: []SpecChange{}, Budgets: []Standing{}, Loosened: []string{}}
	before, current, err := b.spent(key)
	if err != nil {
		return d, err
	}
	if len(current) > 0 {
		d.Ledger, d.Charges = key, len(current)
	}
	var earlier, planned []Run
	sameDataset := namesDataset(key, names(pairs, caps))
	for _, p := range pairs {
		if was, in := d.add(sameDataset, p); in {
			earlier, planned = append(earlier, was...), append(planned, p.now.runs()...)
		}
	}
	open, err := unpaid(earlier, before)
	if err != nil {
		return d, err
	}
	opened, err := unpaid(planned, current)
	if err != nil {
		return d, err
	}
	for _, c := range caps {
		if sameDataset(c.namedData) && !slices.ContainsFunc(d.Budgets, func(b Standing) bool { return b.same(c.cap) }) {
			d.Budgets = append(d.Budgets, judge(c, before, current, open, opened))
		}
	}
	d.Loosened = append(d.Loosened, loosened(key, pairs)...)
	return d, nil
}

// runs returns the runs of a spec; none where it is not there.
func (s *specState) runs() []Run {
	if s == nil {
		return nil
	}
	return s.bill
}

// add lists a spec that is, or was, on the dataset, and gives its runs of then.
func (d *Dataset) add(here func(namedData) bool, p specPair) (earlier []Run, in bool) {
	before, is := p.then != nil && here(p.then.namedData), p.now != nil && here(p.now.namedData)
	if !before && !is {
		return nil, false
	}
	s := SpecChange{Spec: p.path, Change: "changed", Now: len(p.now.runs())}
	if before {
		d.Dataset, earlier = p.then.shown, p.then.bill
	} else {
		d.Dataset = p.now.shown
	}
	switch {
	case p.fault != "":
		s.Change = "cannot run"
	case p.now == nil:
		s.Change = "gone"
	case !before:
		s.Change = "new"
	case p.then.digest == p.now.digest:
		s.Change = "same"
	}
	s.Before = len(earlier)
	d.Specs = append(d.Specs, s)
	return earlier, true
}

// Refusal names the datasets whose planned spending grows beyond their budget.
func (r Report) Refusal() error {
	var names []string
	for _, d := range r.Datasets {
		if d.refused() {
			names = append(names, d.Dataset)
		}
	}
	if names == nil {
		return nil
	}
	return fmt.Errorf("planned spending on %s grows beyond the budget that %s has; it is that budget which counts: to "+
		"approve another one, merge it first, in a change that plans no more", strings.Join(names, ", "), r.Against)
}

// Text returns the report for a terminal or the log of a CI.
func (r Report) Text() string {
	var b strings.Builder
	if len(r.Datasets) == 0 {
		fmt.Fprintf(&b, "no spec, now or in %s\n", r.Against)
	}
	for _, d := range r.Datasets {
		d.write(&b, r.Against)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	return b.String()
}

func (d Dataset) write(b *strings.Builder, baseline string) {
	fmt.Fprintf(b, "%s\n", d.Dataset)
	for _, s := range d.Specs {
		fmt.Fprintf(b, "  %-10s %s: %s in %s, %s now\n", s.Change, s.Spec, words.Plural(s.Before, "run"), baseline,
			words.Plural(s.Now, "run"))
	}
	if d.Ledger != "" {
		fmt.Fprintf(b, "  ledger     %s: %s\n", d.Ledger, words.Plural(d.Charges, "charge"))
	}
	if len(d.Budgets) == 0 {
		fmt.Fprintf(b, "  no budget in %s: nothing bounds what is spent\n", baseline)
	}
	for _, c := range d.Budgets {
		c.write(b, baseline)
	}
	for _, l := range d.Loosened {
		fmt.Fprintf(b, "  LOOSER     %s; the budget that counts is that of %s\n", l, baseline)
	}
}

func (c Standing) write(b *strings.Builder, baseline string) {
	origin := ""
	if c.Left != "" {
		origin = fmt.Sprintf(", of %s, which no spec names any more: this dataset may be that one", c.Left)
	}
	fmt.Fprintf(b, "  budget     epsilon %g at delta %g for one %s, %s, filter %s (%s in %s%s)\n", c.Epsilon, c.Delta,
		c.Unit, c.Adjacency, c.Filter, c.Spec, baseline, origin)
	fmt.Fprintf(b, "  spending   %s spent; with all that is planned %s in %s, %s now\n", boundOr(c.Spent),
		boundOr(c.Before), baseline, boundOr(c.Now))
	switch {
	case c.Over && c.Grown:
		fmt.Fprintf(b, "  OVER       planned spending grows beyond the budget%s\n", reasonText(c.Why))
	case c.Over:
		fmt.Fprintf(b, "  over       but no more than in %s%s\n", baseline, reasonText(c.Why))
	default:
		fmt.Fprintf(b, "  within\n")
	}
}

func reasonText(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// boundOr returns an epsilon, rounded up, or that there is none.
func boundOr(x *float64) string {
	if x == nil {
		return "no finite bound"
	}
	return record.Bound(*x)
}
