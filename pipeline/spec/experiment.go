package spec

import "fmt"

// Trial is one run of an experiment: the overrides that make its spec, and
// which repeat it is.
type Trial struct {
	Set    []string `json:"set"`
	Repeat int      `json:"repeat"`
}

// maxTrials bounds a grid; each trial is a charge of its own.
const maxTrials = 10000

// Trials lists the runs of an experiment, repeats innermost; one run where the
// spec has none. A grid of over 10,000 runs is an error.
func (e *Experiment) Trials() ([]Trial, error) {
	if e == nil {
		return []Trial{{}}, nil
	}
	combinations := [][]string{nil}
	for _, axis := range e.Grid {
		var next [][]string
		for _, c := range combinations {
			for _, value := range axis.Value {
				next = append(next, append(append([]string(nil), c...), fmt.Sprintf("%s=%s", axis.Name, string(value))))
			}
		}
		if combinations = next; len(combinations) > maxTrials {
			return nil, fmt.Errorf("experiment.grid: is of more than %d combinations, must be of fewer", maxTrials)
		}
	}
	repeats := max(1, e.Repeats)
	if len(combinations)*repeats > maxTrials {
		return nil, fmt.Errorf("experiment: is of %d runs, must be of at most %d", len(combinations)*repeats, maxTrials)
	}
	var trials []Trial
	for _, c := range combinations {
		for r := range repeats {
			trials = append(trials, Trial{c, r})
		}
	}
	return trials, nil
}
