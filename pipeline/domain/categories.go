package domain

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"weir/schema"
)

// Categories are the values of a column, in order, spelled as a file writes them. In YAML
// they may also be the word private: the list is no public knowledge, and the column is an
// open set of values (type text) until a stage of kind dp_categories releases a list. That
// is an empty list here; nil says nothing.
type Categories []string

// privateCategories is how a domain spells a list that is not public.
const privateCategories = "private"

// UnmarshalYAML reads a list of values or the word.
func (c *Categories) UnmarshalYAML(n *yaml.Node) error {
	switch {
	case n.Kind == yaml.ScalarNode && n.Value == privateCategories:
		*c = Categories{}
		return nil
	case n.Kind == yaml.SequenceNode && len(n.Content) == 0:
		return schema.NodeProblem(n, "at least one value, or the word private")
	case n.Kind != yaml.SequenceNode:
		return schema.NodeProblem(n, "a list of values, or the word private")
	}
	return (*Spellings)(c).UnmarshalYAML(n)
}

// MarshalYAML writes what UnmarshalYAML reads.
func (c Categories) MarshalYAML() (any, error) {
	if c.private() {
		return privateCategories, nil
	}
	return []string(c), nil
}

// IsZero tells whether there is nothing to write.
func (c Categories) IsZero() bool { return c == nil }

func (c Categories) private() bool { return c != nil && len(c) == 0 }

// JSONSchema is a list of texts, numbers and truth values, or the word.
func (Categories) JSONSchema() map[string]any {
	list := Spellings{}.JSONSchema()
	return map[string]any{"title": "a list of values, or the word private", "anyOf": []any{list, map[string]any{"const": privateCategories}}}
}

// Private tells whether the column's categories are a list that a stage has yet to release.
func (c *Column) Private() bool { return c.Type == Text && c.Categories.private() }

// PrivateCategories lists the columns whose categories are private.
func (d *Domain) PrivateCategories() (names []string) {
	for i := range d.Columns {
		if d.Columns[i].Private() {
			names = append(names, d.Columns[i].Name)
		}
	}
	return names
}

// ReleaseOf is the line of a spec that has the categories of some columns released, to be
// added before the stage that needs them.
func ReleaseOf(columns []string) string {
	list := slices.Clone(columns)
	for i, name := range list {
		if !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{2,}$`).MatchString(name) || slices.Contains([]string{"null", "true", "false", "yes", "off"}, strings.ToLower(name)) {
			list[i] = strconv.Quote(name)
		}
	}
	return "categories: {kind: dp_categories, columns: [" + strings.Join(list, ", ") + "]}"
}
