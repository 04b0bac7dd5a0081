package experiment

import (
	"fmt"
	"math"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/runtime"
	"weir/runtime/payment"
)

// BillOf returns what runs cost together. A charge that several runs share counts once, but for the naive sum, which
// takes each run for itself; runs without privacy charge nothing and are counted apart. With fresh, no run shares a
// charge. Nothing is opened.
func BillOf(runs []runtime.Trial, fresh bool) (Bill, error) {
	total, shared, err := runtime.Together(runs, fresh)
	if err != nil {
		return Bill{}, err
	}
	b := Bill{Runs: len(runs), Delta: total.Delta, Adjacency: string(total.Adjacency), Accountant: total.Accountant,
		Reason: total.Reason}
	if !math.IsInf(total.Epsilon, 1) {
		b.Proven = &total.Epsilon
	}
	b.Naive, b.Published = new(float64), new(float64)
	for i, r := range runs {
		if r.Plan.Budget.Infinite() {
			b.Unprotected++
			continue
		}
		b.NaiveDelta += r.Plan.Delta
		b.Naive = plus(b.Naive, r.Plan.Epsilon.Proven)
		b.Published = plus(b.Published, ownPublished(r.Plan, func(s *compile.Step) bool { return shared(i, s) }))
	}
	if b.Unprotected == b.Runs {
		b.Naive, b.Published = nil, nil
	}
	if !sameNeighbours(runs) {
		b.Naive = nil // epsilons of other adjacencies or units say other things
	}
	return b, nil
}

// sameNeighbours reports whether what the runs with privacy prove is said of the same neighbours.
func sameNeighbours(runs []runtime.Trial) bool {
	var first *compile.Plan
	for _, r := range runs {
		switch p := r.Plan; {
		case p.Budget.Infinite():
		case first == nil:
			first = p
		case p.Adjacency != first.Adjacency || payment.Unit(p.Spec.Dataset.PrivacyUnit) !=
			payment.Unit(first.Spec.Dataset.PrivacyUnit):
			return false
		}
	}
	return true
}

// ownPublished adds up the published epsilons of what a plan charges and shares with none before.
func ownPublished(p *compile.Plan, shared func(*compile.Step) bool) *float64 {
	if p.Epsilon.Published == nil {
		return nil
	}
	sum := new(float64)
	for i := range p.Steps {
		if s := &p.Steps[i]; len(s.Spends) > 0 && !shared(s) {
			sum = plus(sum, s.Published)
		}
	}
	return sum
}

// plus returns nil where either term is missing.
func plus(sum, x *float64) *float64 {
	if sum == nil || x == nil {
		return nil
	}
	total := *sum + *x
	return &total
}

// Datasets returns how many datasets experiments are on.
func Datasets(list []*Plan) int {
	keys := map[string]bool{}
	for _, p := range list {
		keys[runtime.SourceKey(p.Base)] = true
	}
	return len(keys)
}

// datasetName returns what people call the dataset of a plan.
func datasetName(p *compile.Plan) string { return p.Spec.Dataset.Declared.Name }

// fullName tells apart datasets that people call alike.
func fullName(p *compile.Plan) string {
	d := p.Spec.Dataset
	return fmt.Sprintf("%s, version %s", d.Declared.Full, d.Version)
}

// datasetNames returns the names of datasets by SourceKey, in full where people call two alike.
func datasetNames(list []*Plan) map[string]string {
	full, called := map[string]string{}, map[string]int{}
	for _, p := range list {
		if key := runtime.SourceKey(p.Base); full[key] == "" {
			full[key] = fullName(p.Base)
			called[datasetName(p.Base)]++
		}
	}
	for _, p := range list {
		if name := datasetName(p.Base); called[name] == 1 {
			full[runtime.SourceKey(p.Base)] = name
		}
	}
	return full
}

// BillsOf returns the bill of all runs on each dataset and, where some runs claim something else, the bill of the runs
// that claim a proof. Two datasets that people call alike are named in full.
func BillsOf(list []*Plan, fresh bool) (bills []DatasetBill, err error) {
	runs := map[string][]runtime.Trial{}
	var keys []string
	for _, p := range list {
		key := runtime.SourceKey(p.Base)
		if runs[key] == nil {
			keys = append(keys, key)
		}
		runs[key] = append(runs[key], p.Runs()...)
	}
	names := datasetNames(list)
	for _, key := range keys {
		some, err := datasetBills(names[key], runs[key], fresh)
		if err != nil {
			return nil, fmt.Errorf("dataset %s: %w", names[key], err)
		}
		bills = append(bills, some...)
	}
	return bills, nil
}

func datasetBills(name string, runs []runtime.Trial, fresh bool) ([]DatasetBill, error) {
	all, err := BillOf(runs, fresh)
	bills := []DatasetBill{{Dataset: name, Bill: all}}
	proven := provenRuns(runs)
	if err != nil || len(proven) == 0 || len(proven) == all.Runs {
		return bills, err
	}
	part, err := BillOf(proven, fresh)
	return append(bills, DatasetBill{Dataset: name, Part: "only what claims: proven is said of, as if the rest were not " +
		"run", Bill: part}), err
}

// provenRuns returns the runs whose specs claim a proof.
func provenRuns(runs []runtime.Trial) (proven []runtime.Trial) {
	for _, r := range runs {
		if r.Plan.Spec.Privacy.Claims == pipeline.ClaimsProven {
			proven = append(proven, r)
		}
	}
	return proven
}
