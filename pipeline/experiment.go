package pipeline

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

// experiment says how often a spec with an experiment is charged (W17).
func (c *compiler) experiment() {
	if c.spec.Experiment == nil {
		return
	}
	trials, err := c.spec.Experiment.Trials()
	if err != nil {
		c.fault("experiment", err.Error(), "a smaller experiment", "")
		return
	}
	c.warn("W17", fmt.Sprintf("the experiment is %d runs over the private data; each is a charge like this bill", len(trials)),
		"try settings on demo data, and run once on the private table")
	if len(trials) > 1 {
		c.warn("W18", "choosing which of these runs to release by their scores against private rows is a release of its own, which no charge covers",
			"say beforehand which run is released, or release all of them")
	}
}
