package pipeline

import (
	"fmt"

	"weir/pipeline/domain"
	"weir/schema"
)

// Unknown appends the problem of a name that is not one of the accepted ones, with
// the nearest of them.
func (ps *Problems) Unknown(path, what, name string, accepted []string) {
	*ps = append(*ps, Problem{Problem: schema.UnknownName(path, what, name, accepted)})
}

// Pick returns the places of the named columns in d, in the order given; a name
// that is unknown or a duplicate adds a problem.
func (ps *Problems) Pick(path string, d *domain.Domain, names []string) []int {
	var picked []int
	seen := map[string]bool{}
	for i, name := range names {
		at := d.Index(name)
		switch {
		case at < 0:
			ps.Unknown(fmt.Sprintf("%s[%d]", path, i), "column of the table", name, d.Names())
		case seen[name]:
			ps.Add(fmt.Sprintf("%s[%d]", path, i), fmt.Sprintf("%q, a duplicate column", name), "named once")
		default:
			picked = append(picked, at)
		}
		seen[name] = true
	}
	return picked
}
