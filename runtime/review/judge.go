package review

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/pipeline/words"
	"weir/privacy/account"
	"weir/privacy/ledger"
	"weir/runtime"
	"weir/runtime/dataset"
	"weir/runtime/payment"
)

func (b Standing) same(c ledger.Cap) bool {
	return b.Epsilon == c.Epsilon && b.Delta == c.Delta && b.Unit == c.Unit.String() &&
		b.Adjacency == string(c.Adjacency) && strings.HasPrefix(b.Filter, c.Filter)
}

// judge holds what is spent and planned against a budget, by its filter.
func judge(c setBudget, before, current, earlier, planned []ledger.Entry) Standing {
	j := Standing{Spec: c.spec, Epsilon: c.cap.Epsilon, Delta: c.cap.Delta, Filter: c.cap.Filter,
		Unit: c.cap.Unit.String(), Adjacency: string(c.cap.Adjacency)}
	filter, err := c.cap.Admit(current, planned)
	var refusal *ledger.OverBudgetError
	j.Over = err != nil
	switch {
	case errors.As(err, &refusal):
		filter, j.Why = refusal.Filter, refusal.Why
	case err != nil: // another filter than the ledger's, or an event that it cannot measure
		j.Grown, j.Why = len(current)+len(planned) > len(before)+len(earlier), err.Error()
		return j
	}
	j.Filter = filter.String()
	spent, _ := sumBy(filter, c.cap, current)
	old, counted := sumBy(filter, c.cap, before, earlier)
	all, more := sumBy(filter, c.cap, current, planned)
	j.Spent, j.Before, j.Now = finite(spent), finite(old), finite(all)
	j.Grown = all > old*(1+1e-9) || math.IsInf(all, 1) && more > counted
	return j
}

// left lists the budgets of the revision on datasets that no spec names any more. A dataset that is new in the change
// may be one of these under another name, which no file tells: then it takes their budgets over (inherit).
func (b *Check) left(pairs []specPair, caps []setBudget) (list []setBudget) {
	current := b.others.now
	for _, p := range pairs {
		if p.now != nil {
			current = append(current, p.now.namedData)
		}
	}
	for _, c := range caps {
		if !strings.HasPrefix(c.dataset, "demo: ") && !slices.ContainsFunc(current, c.same) {
			list = append(list, c)
		}
	}
	return list
}

// namedThen lists the datasets that specs of the revision name.
func (b *Check) namedThen(pairs []specPair) []namedData {
	list := b.others.then
	for _, p := range pairs {
		if p.then != nil {
			list = append(list, p.then.namedData)
		}
	}
	return list
}

// inherit says of each dataset that is new in the change to which budgets that left it is held: to those whose tables
// have the longest end of their path in common with its own, where they have any, and to those that no new dataset is
// nearest to. Else to all.
func (b *Check) inherit(left []setBudget, pairs []specPair, all []namedData) map[string][]int {
	nearest, matched := map[string][]int{}, map[int]bool{}
	for _, key := range datasets(pairs) {
		if strings.HasPrefix(key, "demo: ") || slices.ContainsFunc(b.namedThen(pairs), namesDataset(key, all)) {
			continue
		}
		nearest[key] = mostAlike(left, key, pairs)
		for _, i := range nearest[key] {
			matched[i] = true
		}
	}
	for key, list := range nearest {
		for i := range left {
			if len(list) == 0 || !matched[i] {
				nearest[key] = append(nearest[key], i)
			}
		}
	}
	return nearest
}

// mostAlike returns the budgets whose tables have the longest end of their path in common with the table of a dataset;
// none where no table has its name.
func mostAlike(left []setBudget, key string, pairs []specPair) (list []int) {
	place := key
	for _, p := range pairs {
		if p.now != nil && p.now.dataset == key {
			place = p.now.shown
		}
	}
	most := 1
	for i, c := range left {
		n := commonEnd(c.shown, place)
		if n > most {
			most, list = n, nil
		}
		if n == most {
			list = append(list, i)
		}
	}
	return list
}

// commonEnd counts the names at the end of two paths that are equal.
func commonEnd(a, b string) (n int) {
	one, other := strings.Split(a, "/"), strings.Split(b, "/")
	slices.Reverse(one)
	slices.Reverse(other)
	for n < min(len(one), len(other)) && one[n] == other[n] {
		n++
	}
	return n
}

// judgeLeft holds what new datasets plan together against the budget of a dataset that is gone, with all that was spent
// on it and on them: each of them may be that dataset, and so may all.
func (b *Check) judgeLeft(c setBudget, heirs []string, pairs []specPair, all []namedData) (j Standing, err error) {
	before, current, err := b.spent(c.dataset)
	if err != nil {
		return j, err
	}
	earlier, err := b.plannedThen(c, pairs)
	if err != nil {
		return j, err
	}
	open, err := unpaid(earlier, before)
	if err != nil {
		return j, err
	}
	var opened []ledger.Entry
	for _, key := range heirs {
		spent, more, err := b.heir(key, pairs, all)
		if err != nil {
			return j, err
		}
		current, opened = append(current, spent...), append(opened, more...)
	}
	j = judge(c, before, current, open, opened)
	j.Left = c.shown
	return j, nil
}

// heir lists what was charged on a dataset, and what the specs of now plan on it that is not paid.
func (b *Check) heir(key string, pairs []specPair, all []namedData) (spent, open []ledger.Entry, err error) {
	var planned []Run
	for _, p := range pairs {
		if p.now != nil && namesDataset(key, all)(p.now.namedData) {
			planned = append(planned, p.now.bill...)
		}
	}
	if _, spent, err = b.spent(key); err != nil {
		return nil, nil, err
	}
	open, err = unpaid(planned, spent)
	return spent, open, err
}

// plannedThen lists the runs that the revision plans on the dataset of a budget.
func (b *Check) plannedThen(c setBudget, pairs []specPair) (runs []Run, err error) {
	checked := false
	for _, p := range pairs {
		checked = checked || p.path == c.spec
		if p.then != nil && p.then.same(c.namedData) {
			runs = append(runs, p.then.bill...)
		}
	}
	if checked {
		return runs, nil
	}
	sp, err := b.then.Spec(c.spec, b.Registry)
	if err != nil {
		return nil, err
	}
	state, err := b.state(c.spec, sp)
	if err != nil {
		return nil, err
	}
	return append(runs, state.bill...), nil
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

// finite returns nil for no bound, which JSON has no number for.
func finite(x float64) *float64 {
	if math.IsInf(x, 1) {
		return nil
	}
	return &x
}

// unpaid returns planned charges that the ledger does not have. A charge is known by the recipe
// of its stage, so what several specs share, and what an edit of a later stage leaves as
// it was, counts once; by the spec where a stage reads further files.
func unpaid(planned []Run, spent []ledger.Entry) (open []ledger.Entry, err error) {
	id, paid, releases := "", map[string]int{}, map[string]bool{}
	for _, e := range spent {
		id = e.Dataset
		paid[chargeKey(e)]++
		release := e.Spec + "\x00" + chargeKey(e)
		if e.Recipe = ""; !releases[release] { // a repeat that was drawn twice, in two folders say, is no other repeat
			paid[chargeKey(e)]++
		}
		releases[release] = true
	}
	charges, unplanned, err := chargesOf(planned, id)
	if err != nil {
		return nil, err
	}
	for key, n := range unplanned { // which repeats were charged is not known: those that nobody plans, as far as they go
		paid[key] -= min(paid[key], n)
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
	return open, nil
}

// chargesOf lists the charges of runs on the dataset of an id. For each key of charges without a recipe it counts the
// repeats that lie below the last planned one and are not planned themselves.
func chargesOf(planned []Run, id string) (all []ledger.Entry, unplanned map[string]int, err error) {
	repeats := map[string]map[int]bool{}
	for _, r := range planned {
		charges, err := r.charges(id)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range charges {
			if key := chargeKey(e); e.Recipe == "" && repeats[key] == nil {
				repeats[key] = map[int]bool{r.Repeat: true}
			} else if e.Recipe == "" {
				repeats[key][r.Repeat] = true
			}
		}
		all = append(all, charges...)
	}
	unplanned = map[string]int{}
	for key, of := range repeats {
		unplanned[key] = slices.Max(slices.Collect(maps.Keys(of))) + 1 - len(of)
	}
	return all, unplanned, nil
}

func chargeKey(e ledger.Entry) string {
	if e.Recipe != "" {
		return e.Recipe + "\x00" + e.Name
	}
	return e.Spec + "\x00" + e.Stage + "\x00" + e.Name
}

// spent returns the charges of the dataset's ledger in the revision, and of that ledger and
// the one that lies there now: none is lost by taking its line out.
func (b *Check) spent(key string) (before, current []ledger.Entry, err error) {
	if strings.HasPrefix(key, "demo: ") {
		return nil, nil, nil
	}
	if filepath.IsLocal(filepath.FromSlash(key)) { // one outside of the repository is not committed
		if before, err = b.then.Ledger(key); err != nil {
			return nil, nil, err
		}
	}
	if _, err := os.Stat(b.place(key)); err == nil {
		if current, err = dataset.ReadLedger(b.place(key)); err != nil {
			return nil, nil, err
		}
	}
	have := map[string]bool{}
	for _, e := range current {
		have[e.Identity()] = true
	}
	lost := 0
	for _, e := range before {
		if !have[e.Identity()] {
			current, lost = append(current, e), lost+1
		}
	}
	note := fmt.Sprintf("%s lacks %s of %s, which still counts", key, words.Plural(lost, "charge"), b.Against)
	if lost > 0 && !slices.Contains(b.notes, note) {
		b.notes = append(b.notes, note)
	}
	return before, current, nil
}

// Run is one run of a spec, or of its experiment.
type Run struct {
	runtime.Trial
	anew bool // a public file that it reads is another than in the revision
}

// Runs lists the runs of a spec; repeats are compiled once.
func Runs(sp *spec.Spec) (all []Run, err error) {
	trials, err := sp.Experiment.Trials()
	if err != nil {
		return nil, err
	}
	plans, memory := map[string]*compile.Plan{}, &account.Memory{}
	for _, t := range trials {
		key := strings.Join(t.Set, "\x00")
		if plans[key] == nil {
			one := sp
			if len(t.Set) > 0 {
				if one, err = sp.Trial(t); err != nil {
					return nil, Unread(err)
				}
			}
			if plans[key], err = compile.Remembering(one, memory); err != nil {
				return nil, err
			}
		}
		all = append(all, Run{Trial: runtime.Trial{Plan: plans[key], Repeat: t.Repeat}})
	}
	return all, nil
}

// charges returns the charges of one run on the dataset of an id, as the ledger would have them.
func (r Run) charges(id string) (list []ledger.Entry, err error) {
	p := r.Plan
	if p.Budget.Infinite() {
		return nil, nil // nothing is charged, and nothing released
	}
	recipes, err := runtime.Recipes(p, id, r.Repeat)
	if err != nil {
		return nil, err
	}
	name := p.Digest
	if r.anew {
		name += " with other files" // no charge of the ledger is for these
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		for _, spend := range s.Spends {
			list = append(list, ledger.Entry{ID: s.ID + "/" + spend.Name, Spec: name, Stage: s.ID, Name: spend.Name,
				Recipe: recipes[s.ID], Event: spend.Event,
				Adjacency: p.Adjacency, Unit: payment.Unit(p.Spec.Dataset.PrivacyUnit), Unproven: s.Unproven.String()})
		}
	}
	return list, nil
}

// loosened says where a spec promises less for the dataset than it did in the
func loosened(key string, pairs []specPair) (all []string) {
	for _, p := range pairs {
		if p.then == nil || p.then.cap == nil || p.then.dataset != key {
			continue
		}
		for _, how := range looser(*p.then.cap, p, key, pairs) {
			all = append(all, p.path+": "+how)
		}
	}
	return all
}

// looser compares the budget of a spec with what it is now.
func looser(before ledger.Cap, p specPair, key string, pairs []specPair) []string {
	switch {
	case p.fault != "", p.now == nil && heldElsewhere(before, key, pairs):
		return nil
	case p.now == nil:
		return []string{fmt.Sprintf("the budget, %s, went with the spec", capWords(before))}
	case p.now.dataset != key:
		return []string{fmt.Sprintf("names another dataset, %s, than the budget, %s, is of", p.now.shown, capWords(before))}
	case p.now.cap == nil:
		return []string{fmt.Sprintf("the budget, %s, was removed", capWords(before))}
	}
	var all []string
	current := *p.now.cap
	add := func(worse bool, format string, before, after any) {
		if worse {
			all = append(all, fmt.Sprintf(format, before, after))
		}
	}
	add(current.Epsilon > before.Epsilon, "the budget itself was raised from %v to %v", before.Epsilon, current.Epsilon)
	add(current.Delta > before.Delta, "the delta of the budget was raised from %v to %v", before.Delta, current.Delta)
	add(current.Filter != before.Filter, "the filter of the budget was changed from %v to %v", before.Filter,
		current.Filter)
	current.Epsilon, current.Delta = before.Epsilon, before.Delta // what is left is whom it protects
	add(current.Looser(before) && current.Unit.Column != before.Unit.Column,
		"the privacy unit was loosened from one %v to one %v",
		before.Unit, current.Unit)
	add(current.Looser(before) && current.Adjacency != before.Adjacency, "the adjacency was loosened from %v to %v",
		before.Adjacency,
		current.Adjacency)
	return all
}

// heldElsewhere reports whether another spec holds the dataset to no less now.
func heldElsewhere(was ledger.Cap, key string, pairs []specPair) bool {
	for _, p := range pairs {
		if p.now != nil && p.now.dataset == key && p.now.cap != nil && !p.now.cap.Looser(was) {
			return true
		}
	}
	return false
}

func capWords(c ledger.Cap) string { return fmt.Sprintf("epsilon %g at delta %g", c.Epsilon, c.Delta) }
