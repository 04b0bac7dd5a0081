package runtime

import (
	"reflect"
	"slices"

	"weir/pipeline"
)

// releasedRules gives the domain of what is released the rules between its columns, as
// they are known of each table, each once.
func (r *run) releasedRules(d *pipeline.Domain) {
	for i := range r.plan.Steps {
		h, released := r.releasedTable(&r.plan.Steps[i])
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
