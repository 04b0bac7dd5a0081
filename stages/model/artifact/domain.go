package artifact

import (
	"fmt"

	"weir/pipeline/domain"
)

// Bounds on what a model may describe, far beyond what one is trained on; the way
// back to the source costs columns times steps.
const (
	mostColumns = 1 << 16
	mostSteps   = 1 << 10
)

// CheckDomain returns what is wrong with a domain that came with a model, from anyone: its columns and rules
// (domain.Check), and a history of which each step has what it started from. Who undoes a step judges its parameters.
func CheckDomain(d *domain.Domain) error {
	if len(d.History) > mostSteps {
		return fmt.Errorf("domain.history: has %d steps, must have at most %d", len(d.History), mostSteps)
	}
	if err := checkTable("domain", d); err != nil {
		return err
	}
	for i, step := range d.History {
		path := fmt.Sprintf("domain.history[%d].before", i)
		switch {
		case step.Before == nil:
			return fmt.Errorf("%s: is missing, must be the columns before the step", path)
		case len(step.Before.History) > 0:
			return fmt.Errorf("%s.history: is given, must be left out", path)
		}
		if err := checkTable(path, step.Before); err != nil {
			return err
		}
	}
	return nil
}

// checkTable returns the first of the problems of columns and rules: a file of anyone may have thousands.
func checkTable(path string, d *domain.Domain) error {
	if n := len(d.Columns); n > mostColumns {
		return fmt.Errorf("%s.columns: has %d columns, must have at most %d", path, n, mostColumns)
	}
	for _, p := range domain.Check(d, domain.Released) {
		p.Path = path + "." + p.Path
		return p
	}
	return nil
}
