package pipeline

import (
	"encoding/json"
	"fmt"

	"gopkg.in/yaml.v3"
)

// Unit is the privacy unit: one row, or all rows whose cells of Column are read as one
// value, of which at most MaxRows are kept, those that Keep says.
type Unit struct {
	Column  string
	MaxRows int
	Keep    Keep
}

// Keep says which rows of a unit stay where it has more than its cap.
type Keep string

// The rules. A spec may spell KeepFirst, which is the default, as first.
const (
	KeepFirst  Keep = ""        // the first in the order of the source
	KeepByHash Keep = "by_hash" // the rows of the least public hash (docs/design/units.md)
)

type unitColumn struct {
	Column  string `yaml:"column" json:"column"`
	MaxRows int    `yaml:"max_rows" json:"max_rows"`
	Keep    Keep   `yaml:"keep,omitempty" json:"keep,omitempty"` // left out where it is the default: recipes from before have none
}

// Stability returns the stability of the source table for this unit.
func (u Unit) Stability() Stability {
	if u.Column == "" {
		return Rows(1)
	}
	return Rows(u.MaxRows)
}

func (u Unit) String() string {
	if u.Column == "" {
		return "row"
	}
	if u.Keep == KeepByHash {
		return fmt.Sprintf("%s (at most %d rows each, those of the least hash)", u.Column, u.MaxRows)
	}
	return fmt.Sprintf("%s (at most %d rows each)", u.Column, u.MaxRows)
}

// JSONSchema returns the text row, or {column, max_rows, keep}.
func (Unit) JSONSchema() map[string]any {
	return map[string]any{"oneOf": []any{
		map[string]any{"const": "row"},
		map[string]any{"type": "object", "additionalProperties": false, "required": []any{"column", "max_rows"},
			"properties": map[string]any{
				"column": map[string]any{"type": "string", "description": "Column that names the unit, such as patient_id; of " +
					"any type but numeric, which rounds."},
				"max_rows": map[string]any{"type": "integer", "minimum": 1,
					"description": "Rows kept of each unit. Further ones are dropped, so a unit with many rows counts for less."},
				"keep": map[string]any{"enum": []any{"first", string(KeepByHash)}, "description": "Which rows of a unit are " +
					"kept. first (the default): the first in the order of the source. by_hash: those whose public hash (MD5 of the " +
					"values) is least, so that a file, a sorted copy of it and a database keep the same ones; costs a reading more."},
			}},
	}}
}

// UnmarshalYAML reads row or {column, max_rows, keep}.
func (u *Unit) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*u = Unit{}
		return nil
	}
	var c unitColumn
	if err := n.Decode(&c); err != nil {
		return err
	}
	if c.Keep == "first" {
		c.Keep = KeepFirst
	}
	*u = Unit(c)
	return nil
}

// MarshalYAML writes the form that UnmarshalYAML reads.
func (u Unit) MarshalYAML() (any, error) {
	if u.Column == "" {
		return "row", nil
	}
	return unitColumn(u), nil
}

// MarshalJSON writes the form that a spec has.
func (u Unit) MarshalJSON() ([]byte, error) {
	if u.Column == "" {
		return json.Marshal("row")
	}
	return json.Marshal(unitColumn(u))
}
