package domain

import (
	"fmt"
	"maps"
	"slices"

	"weir/internal/plaintext"
)

// Aliases are spellings of a file that mean a category, by that category. Only the reading of a file knows them: a table
// has categories alone.
type Aliases map[string]Spellings

// WithoutAliases returns the domain of the table that is read by d.
func (d *Domain) WithoutAliases() *Domain {
	if !slices.ContainsFunc(d.Columns, func(c Column) bool { return len(c.Aliases) > 0 }) {
		return d
	}
	plain := d.Clone()
	for i := range plain.Columns {
		plain.Columns[i].Aliases = nil
	}
	return plain
}

// Spelled returns the aliases of each column that has some; nil where none has.
func (d *Domain) Spelled() map[string]Aliases {
	var all map[string]Aliases
	for i := range d.Columns {
		if c := &d.Columns[i]; len(c.Aliases) > 0 {
			if all == nil {
				all = map[string]Aliases{}
			}
			all[c.Name] = maps.Clone(c.Aliases)
		}
	}
	return all
}

// aliases refuses an alias of no category, and a spelling that means two things.
func (c *checker) aliases(path string, col *Column) {
	if len(col.Aliases) > 0 && !col.Type.Coded() {
		c.problems.Add(path, "given for type "+string(col.Type), "left out, or the type categorical, ordinal or boolean, with a list of categories")
		return
	}
	means := map[string]bool{}
	for _, category := range slices.Sorted(maps.Keys(col.Aliases)) {
		at := under(path, category)
		if !slices.Contains(col.Categories, category) {
			c.problems.Add(at, c.quote(category)+", which is no category of the column", "a category, with a list of its other spellings")
		}
		for i, alias := range col.Aliases[category] {
			item := fmt.Sprintf("%s[%d]", at, i)
			switch {
			case slices.Contains(col.Categories, alias) || slices.Contains(col.Missing, alias) || means[alias]:
				c.problems.Add(item, c.quote(alias)+", which is a category, a spelling of missing, or listed twice", "a spelling that means one category alone")
			case alias == "" || !plaintext.Printable(alias):
				c.problems.Add(item, c.quote(alias), plaintext.Accepted)
			}
			means[alias] = true
		}
	}
}
