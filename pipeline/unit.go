package pipeline

import (
	"encoding/json"
	"fmt"

	"gopkg.in/yaml.v3"
)

// Unit is the privacy unit: one row, or all rows whose cells of Column are read as one
// value, of which at most MaxRows are kept.
type Unit struct {
	Column  string `json:"column,omitempty"`
	MaxRows int    `json:"max_rows,omitempty"`
}

type unitColumn struct {
	Column  string `yaml:"column"`
	MaxRows int    `yaml:"max_rows"`
}

// Stability of the source table for this unit.
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
	return fmt.Sprintf("%s (at most %d rows each)", u.Column, u.MaxRows)
}

// JSONSchema is the text row, or {column, max_rows}.
func (Unit) JSONSchema() map[string]any {
	return map[string]any{"oneOf": []any{
		map[string]any{"const": "row"},
		map[string]any{"type": "object", "additionalProperties": false, "required": []any{"column", "max_rows"},
			"properties": map[string]any{
				"column":   map[string]any{"type": "string", "description": "Column that names the unit, such as patient_id; of any type but numeric, which rounds."},
				"max_rows": map[string]any{"type": "integer", "minimum": 1, "description": "Rows kept of each unit: the first in the file. Further ones are dropped, so a unit with many rows counts for less."},
			}},
	}}
}

// UnmarshalYAML reads row or {column, max_rows}.
func (u *Unit) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*u = Unit{}
		return nil
	}
	var c unitColumn
	if err := n.Decode(&c); err != nil {
		return err
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
	return json.Marshal(map[string]any{"column": u.Column, "max_rows": u.MaxRows})
}
