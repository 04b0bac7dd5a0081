package artifact

import (
	"fmt"
	"math"
	"slices"

	"weir/internal/plain"
	"weir/pipeline"
	"weir/pipeline/constraint"
)

// Bounds on what a model may describe, far beyond what one is trained on; the way
// back to the source costs columns times steps.
const (
	mostColumns = 1 << 16
	mostSteps   = 1 << 10
)

// CheckDomain judges a domain that came with a model, from anyone: what `weir check`
// holds of a domain in a spec, and a history whose steps have what they started
// from. The parameters of a step are judged by who undoes it.
func CheckDomain(d *pipeline.Domain) error {
	if len(d.History) > mostSteps {
		return fmt.Errorf("domain.history: has %d steps, must have at most %d", len(d.History), mostSteps)
	}
	if err := checkRules("domain", d); err != nil {
		return err
	}
	for i, step := range d.History {
		at := fmt.Sprintf("domain.history[%d].before", i)
		switch {
		case step.Before == nil:
			return fmt.Errorf("%s: is missing, must be the columns before the step", at)
		case len(step.Before.History) > 0:
			return fmt.Errorf("%s.history: is given, must be left out", at)
		}
		if err := checkRules(at, step.Before); err != nil {
			return err
		}
	}
	return nil
}

// checkRules judges columns and the rules between them. Of a step's columns some may be
// forgotten, and rules about these are nobody's any more.
func checkRules(at string, d *pipeline.Domain) error {
	if err := checkColumns(at+".columns", d.Columns); err != nil {
		return err
	}
	known := *d
	known.Carry(d)
	if _, problems := constraint.Read(&known); len(problems) > 0 {
		return fmt.Errorf("%s.%w", at, problems[0])
	}
	return nil
}

func checkColumns(at string, columns []pipeline.Column) error {
	if len(columns) == 0 || len(columns) > mostColumns {
		return fmt.Errorf("%s: are %d, must be from 1 to %d", at, len(columns), mostColumns)
	}
	seen := map[string]bool{}
	for i := range columns {
		c := &columns[i]
		if err := checkColumn(c); err != nil {
			return fmt.Errorf("%s[%d].%w", at, i, err)
		}
		if seen[c.Name] {
			return fmt.Errorf("%s[%d].name: is %q, a duplicate column", at, i, c.Name)
		}
		seen[c.Name] = true
	}
	return nil
}

func checkColumn(c *pipeline.Column) error {
	known := []pipeline.ColumnType{pipeline.Numeric, pipeline.Integer, pipeline.Date, pipeline.Categorical, pipeline.Ordinal, pipeline.Boolean, pipeline.Text}
	forms := []pipeline.EncodingForm{pipeline.OneHot, pipeline.MinMax, pipeline.Standard}
	switch {
	case c.Name == "" || !plain.Printable(c.Name):
		return fmt.Errorf("name: is %.60q, must be text without control characters", c.Name)
	case !slices.Contains(known, c.Type):
		return fmt.Errorf("type: is %.60q, must be one of %v", c.Type, known)
	case c.Bounds != nil && !(c.Bounds[0] <= c.Bounds[1]):
		return fmt.Errorf("bounds: are [%g, %g], must be [least, greatest]", c.Bounds[0], c.Bounds[1])
	case !(c.Step >= 0 && c.Step < math.Inf(1)):
		return fmt.Errorf("step: is %g, must be at least 0", c.Step)
	case c.Encoding != nil && c.Encoding.Width < 1:
		return fmt.Errorf("encoding.width: is %d, must be at least 1", c.Encoding.Width)
	case c.Encoding != nil && !slices.Contains(forms, c.Encoding.Form):
		return fmt.Errorf("encoding.form: is %.60q, must be one of %v", c.Encoding.Form, forms)
	}
	return checkCategories(c)
}

func checkCategories(c *pipeline.Column) error {
	switch n := len(c.Categories); {
	case c.Type == pipeline.Boolean && n != 2, c.Type.Coded() && n == 0, !c.Type.Coded() && n > 0:
		return fmt.Errorf("categories: are %d, must be what the type %s has", n, c.Type)
	}
	for i, v := range slices.Concat(c.Categories, pipeline.Categories(c.Missing)) {
		if !plain.Printable(v) {
			return fmt.Errorf("categories and missing[%d]: is %.60q, must be text without control characters", i, v)
		}
	}
	return nil
}
