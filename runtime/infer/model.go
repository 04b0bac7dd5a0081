package infer

import (
	"fmt"
	"path/filepath"
	"strconv"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/privacy/account"
	"weir/runtime"
	"weir/schema"
)

// take has a model learn the table as it is or, where it learns nets, encoded and without gaps, and takes the filter of
// the budget that fits it.
func (b *beginning) take(dir string, d *domain.Domain, reg *pipeline.Registry) error {
	if b.Model != "" {
		if err := knownModel(reg, b.Model); err != nil {
			return err
		}
	}
	plan, err := b.plan(dir, reg)
	if err != nil && b.Model == "" {
		return err
	}
	if err != nil && b.Stays { // encoded rows are read
		return fmt.Errorf("--model: %s cannot learn this table, whose rows stay in their database; must be a model of "+
			"marginals, such as auto or mst: %w", b.Model, err)
	}
	if err != nil {
		b.encode(d)
		if plan, err = b.plan(dir, reg); err != nil {
			return fmt.Errorf("--model: %s cannot learn this table with its defaults: %w", b.Model, err)
		}
	}
	b.Filter = filterFor(plan)
	return nil
}

// knownModel refuses what is not a kind that makes a model of a table.
func knownModel(reg *pipeline.Registry, name string) error {
	var models []string
	for _, n := range reg.Names() {
		k := reg.Kind(n)
		if len(k.In) > 0 && k.In[0].Form == pipeline.FormTable && len(k.Out) > 0 && k.Out[0].Form == pipeline.FormModel {
			if models = append(models, n); n == name {
				return nil
			}
		}
	}
	var ps schema.Problems
	ps.Unknown("--model", "kind that makes a model of a table", name, models)
	return ps.Err()
}

// plan compiles the spec as it would be written into a folder. No data are opened.
func (b *beginning) plan(dir string, reg *pipeline.Registry) (*compile.Plan, error) {
	text, err := b.yaml()
	if err != nil {
		return nil, err
	}
	read := func(file string) ([]byte, error) { return disk.ReadFile(filepath.Join(dir, file), schema.MaxBytes) }
	if filepath.IsAbs(b.Domain) {
		read = func(file string) ([]byte, error) { return disk.ReadFile(file, schema.MaxBytes) }
	}
	parsed, err := runtime.ParseSpecFrom(filepath.Join(dir, "pipeline.yaml"), text, nil, read, reg)
	if err != nil {
		return nil, err
	}
	return compile.Compile(parsed)
}

// encode puts stages in front of the model that nets need: a yes/no column where something may be missing, a public
// value in its place, which the rows that are drawn have not, and numbers for all of it.
func (b *beginning) encode(d *domain.Domain) {
	b.Encoded = true
	out := map[string]bool{}
	for _, c := range b.out() {
		out[c.Name] = true
	}
	for _, c := range d.Columns {
		switch {
		case out[c.Name] || !c.Nullable:
		case c.Type.Coded():
			b.FillCategories = append(b.FillCategories, filled{c.Name, c.Categories[0]})
		case c.Bounds != nil:
			b.FillNumbers = append(b.FillNumbers, filled{c.Name, strconv.FormatFloat(c.Bounds[0], 'f', -1, 64)})
		}
	}
}

// filled is what stands for a missing value of a column.
type filled struct{ Name, Value string }

// filterFor returns the filter of a budget that measures all that a plan spends: gaussian loses nothing, rdp takes most
// mechanisms; "" where there is none, such as for Gaussian noise beside a release with a delta of its own.
func filterFor(plan *compile.Plan) string {
	var events []privacy.Event
	for _, s := range plan.Steps {
		for _, e := range s.Events {
			events = append(events, e.Event)
		}
	}
	_, mu := account.SquaredMu(events, plan.Adjacency)
	_, divergence := account.Divergence(events, plan.Adjacency)
	_, _, pure := account.SumOfParameters(events, plan.Adjacency)
	switch {
	case mu == nil && len(events) > 0:
		return "gaussian"
	case divergence == nil:
		return "rdp"
	case pure == nil:
		return "basic"
	}
	return ""
}
