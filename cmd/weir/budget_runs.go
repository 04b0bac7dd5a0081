package main

import (
	"strings"

	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/privacy/ledger"
	"weir/runtime"
	"weir/runtime/book"
)

// bill is all runs of a spec.
type bill []plannedRun

// plannedRun is one run of a spec, or of its experiment.
type plannedRun struct {
	plan   *compile.Plan
	repeat int
	anew   bool // a public file that it reads is another than in the revision
}

// trialSpec reads a spec, or that of a run of its experiment.
type trialSpec func(spec.Trial) (*spec.Spec, error)

// plannedBill lists the runs of a spec; repeats are compiled once.
func plannedBill(sp *spec.Spec, load trialSpec) (all bill, err error) {
	trials, err := sp.Experiment.Trials()
	if err != nil {
		return nil, err
	}
	plans := map[string]*compile.Plan{}
	for _, t := range trials {
		key := strings.Join(t.Set, "\x00")
		if plans[key] == nil {
			one := sp
			if len(t.Set) > 0 {
				if one, err = load(t); err != nil {
					return nil, err
				}
			}
			if plans[key], err = compile.Compile(one); err != nil {
				return nil, err
			}
		}
		all = append(all, plannedRun{plan: plans[key], repeat: t.Repeat})
	}
	return all, nil
}

// charges are those of one run on the dataset of an id, as the ledger would have them.
func (r plannedRun) charges(id string) (list []ledger.Entry, err error) {
	p := r.plan
	if p.Budget.Infinite() {
		return nil, nil // nothing is charged, and nothing released
	}
	recipes, err := runtime.Recipes(p, id, r.repeat)
	if err != nil {
		return nil, err
	}
	of := p.Digest
	if r.anew {
		of += " with other files" // no charge of the ledger is for these
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		for _, spend := range s.Spends {
			list = append(list, ledger.Entry{ID: s.ID + "/" + spend.Name, Spec: of, Stage: s.ID, Name: spend.Name, Recipe: recipes[s.ID], Event: spend.Event,
				Adjacency: p.Adjacency, Unit: book.Unit(p.Spec.Dataset.PrivacyUnit), Unproven: s.Unproven.String()})
		}
	}
	return list, nil
}
