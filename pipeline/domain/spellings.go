package domain

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"weir/internal/plaintext"
	"weir/schema"
)

// Spellings are values as a file writes them. In YAML they may stand without
// quotes where they look like numbers: [1, 2, 3] are the texts 1, 2 and 3.
type Spellings []string

// UnmarshalYAML keeps the spelling of every item.
func (s *Spellings) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		return schema.NodeProblem(n, "a list of values")
	}
	list := make(Spellings, len(n.Content))
	for i, item := range n.Content {
		if item.Kind != yaml.ScalarNode || item.Tag == "!!null" {
			return schema.NodeProblem(item, "text or a number")
		}
		list[i] = item.Value
	}
	*s = list
	return nil
}

// JSONSchema returns a list of texts, numbers and truth values.
func (Spellings) JSONSchema() map[string]any {
	return map[string]any{"type": "array", "items": map[string]any{"type": []any{"string", "number", "boolean"}}}
}

// Unambiguous returns the spellings of missing that cannot be a value of the column: a number inside the bounds, or any
// number where there are none, may be a value once rows were clipped, encoded or drawn, and a limit among numbers, such
// as <0.5, is read as a low value. Files that are written tell missing values by the others, or by the empty cell, so
// that no value can end a run.
func (c *Column) Unambiguous(spellings []string) (separate []string) {
	for _, text := range spellings {
		if !c.mayHold(text) {
			separate = append(separate, text)
		}
	}
	return separate
}

// IsLimit reports whether a text is a limit of what was measured, such as <0.5.
func IsLimit(text string) bool {
	return strings.IndexAny(text, "<>≤≥") == 0 && strings.ContainsAny(text, "0123456789")
}

// mayHold tells whether a text is a number or a date that the column may hold, or a limit of such.
func (c *Column) mayHold(text string) bool {
	if c.Type.Coded() && c.Encoding == nil || c.Type == Text {
		return false // a category is never a spelling of missing, and text that is one is missing
	}
	if IsLimit(text) {
		return true
	}
	x, matches := c.spelledNumber(text)
	if c.Type.Calendar() && c.Encoding == nil {
		x, matches = c.spelledDay(text)
	}
	return matches && (c.Bounds == nil || c.Encoding != nil || x >= c.Bounds[0] && x <= c.Bounds[1])
}

// spelledDay reads a date or time as a file spells it.
func (c *Column) spelledDay(text string) (float64, bool) {
	if c.Type == Date {
		day, is := c.DayForm().Parse(text)
		return float64(day), is
	}
	at, is := c.ReadsMoments().Parse([]byte(text))
	return float64(c.Down(at)), is
}

// spelledNumber reads a number in the form of the column.
func (c *Column) spelledNumber(text string) (float64, bool) {
	if form, ok := c.NumberForm(); ok {
		plain, ok := form.AppendDecimal(nil, []byte(text))
		if !ok {
			return 0, false
		}
		text = string(plain)
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil
}

// Aliases are spellings of a file that mean a category, by that category. Only the reading of a file knows them: a
// table has categories alone.
type Aliases map[string]Spellings

// WithoutAliases returns the domain of a table once it is read: d, whose categories have no other spellings.
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
		c.problems.Add(path, "given for type "+string(col.Type),
			"left out, or the type categorical, ordinal or boolean, with a list of categories")
		return
	}
	means := map[string]bool{}
	for _, category := range slices.Sorted(maps.Keys(col.Aliases)) {
		where := joinPath(path, category)
		if !slices.Contains(col.Categories, category) {
			c.problems.Add(where, c.quote(category)+", which is not a category of the column",
				"a category, with a list of its other spellings")
		}
		for i, alias := range col.Aliases[category] {
			item := fmt.Sprintf("%s[%d]", where, i)
			switch {
			case slices.Contains(col.Categories, alias) || slices.Contains(col.Missing, alias) || means[alias]:
				c.problems.Add(item, c.quote(alias)+", which is a category, a spelling of missing, or listed twice",
					"a spelling that means one category alone")
			case alias == "" || !plaintext.Printable(alias):
				c.problems.Add(item, c.quote(alias), plaintext.Accepted)
			}
			means[alias] = true
		}
	}
}
