package runtime

import (
	"reflect"
	"slices"

	"weir/pipeline"
	"weir/pipeline/compile"
)

// releasedRules gives the domain of what is released the rules between its columns, as
// they are known of each table, each once.
func releasedRules(p *compile.Plan, d *pipeline.Domain) {
	for i := range p.Steps {
		h, released := releasedTable(&p.Steps[i])
		if !released {
			continue
		}
		mine := pipeline.Domain{Columns: d.Columns, Constraints: h.Domain.Constraints}
		mine.Carry(h.Domain)
		for _, c := range mine.Constraints {
			if !slices.ContainsFunc(d.Constraints, func(one pipeline.Constraint) bool { return reflect.DeepEqual(one, c) }) {
				d.Constraints = append(d.Constraints, c)
			}
		}
	}
}
