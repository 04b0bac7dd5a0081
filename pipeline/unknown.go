package pipeline

import (
	"fmt"
	"strings"

	"weir/schema"
)

// manyNames is how many accepted names an error lists before it stops.
const manyNames = 20

// Unknown adds the problem of a name that is not one of the accepted ones, with
// the nearest of them.
func (ps *Problems) Unknown(path, what, name string, accepted []string) {
	list := strings.Join(accepted[:min(len(accepted), manyNames)], ", ")
	if len(accepted) > manyNames {
		list += fmt.Sprintf(" and %d more", len(accepted)-manyNames)
	}
	if near := schema.Suggest(name, accepted); near != "" {
		list += "; did you mean " + near + "?"
	}
	ps.Add(path, fmt.Sprintf("%q, an unknown %s", name, what), "one of "+list)
}

// Pick returns the places of the named columns in d, in the order given; a name
// that is unknown or a duplicate adds a problem.
func (ps *Problems) Pick(path string, d *Domain, names []string) []int {
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

// Index is the place of the named column, or -1.
func (d *Domain) Index(name string) int {
	for i := range d.Columns {
		if d.Columns[i].Name == name {
			return i
		}
	}
	return -1
}
