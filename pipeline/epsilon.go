package pipeline

import (
	"encoding/json"
	"math"

	"gopkg.in/yaml.v3"
)

// Epsilon is a privacy budget in nats; +Inf is no privacy.
type Epsilon float64

// JSONSchema is a positive number, or inf.
func (Epsilon) JSONSchema() map[string]any {
	return map[string]any{"oneOf": []any{
		map[string]any{"type": "number", "exclusiveMinimum": 0},
		map[string]any{"enum": []any{"inf"}},
	}}
}

// UnmarshalYAML reads a number, inf or .inf.
func (e *Epsilon) UnmarshalYAML(n *yaml.Node) error {
	if n.Value == "inf" {
		*e = Epsilon(math.Inf(1))
		return nil
	}
	return n.Decode((*float64)(e))
}

// Infinite reports whether no privacy is asked for.
func (e Epsilon) Infinite() bool { return math.IsInf(float64(e), 1) }

// MarshalYAML writes inf or the number.
func (e Epsilon) MarshalYAML() (any, error) {
	if e.Infinite() {
		return "inf", nil
	}
	return float64(e), nil
}

// MarshalJSON writes "inf" or the number.
func (e Epsilon) MarshalJSON() ([]byte, error) {
	if e.Infinite() {
		return []byte(`"inf"`), nil
	}
	return json.Marshal(float64(e))
}
