package spec

import (
	"fmt"

	"weir/schema"
)

// Trial is one run of an experiment: the overrides that make its spec, and
// which repeat it is.
type Trial struct {
	Set    []string `json:"set"`
	Repeat int      `json:"repeat"`
}

// maxTrials bounds a grid; each trial is a charge of its own.
const maxTrials = 10000

// Trials lists the runs of an experiment, repeats innermost; one run where the
// spec has none. Over 10,000 runs are an error of type
// schema.Problem.
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
			return nil, tooMany("experiment.grid", fmt.Sprintf("a grid of more than %d combinations", maxTrials))
		}
	}
	repeats := max(1, e.Repeats)
	if len(combinations)*repeats > maxTrials {
		return nil, tooMany("experiment", fmt.Sprintf("a plan of %d runs", len(combinations)*repeats))
	}
	var trials []Trial
	for _, c := range combinations {
		for r := range repeats {
			trials = append(trials, Trial{c, r})
		}
	}
	return trials, nil
}

func tooMany(path, found string) error {
	return schema.Problem{Path: path, Found: found, Accepted: fmt.Sprintf("one of at most %d runs", maxTrials)}
}
