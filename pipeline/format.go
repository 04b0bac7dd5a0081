package pipeline

import (
	"encoding/json"

	"gopkg.in/yaml.v3"
)

// FileFormat is a format in which the program writes tables.
type FileFormat struct {
	Name  string // in specs, and the ending of its files
	Usual bool   // results are written in it where nobody asks for others
}

// UsualFormats stands in Work.Write for the formats that are usual.
const UsualFormats = "usual"

// Formats is a setting: the formats in which a table is written, of those that the program writes.
type Formats struct {
	Names []string
	known []FileFormat
}

// FormatChooser is a stage with a setting of type Formats. The registry tells each new one what the program writes.
type FormatChooser interface {
	Stage
	KnowFormats(known []FileFormat)
}

// FormatsOf returns the setting by default: the usual formats of those that are known.
func FormatsOf(known ...FileFormat) Formats {
	f := Formats{known: known}
	for _, format := range known {
		if format.Usual {
			f.Names = append(f.Names, format.Name)
		}
	}
	return f
}

// None reports whether none is chosen of those that there are.
func (f Formats) None() bool { return len(f.Names) == 0 && len(f.known) > 0 }

// JSONSchema accepts a list of known formats, each once, or none.
func (f Formats) JSONSchema() map[string]any {
	item := map[string]any{"type": "string"}
	if len(f.known) > 0 {
		var names []any
		for _, format := range f.known {
			names = append(names, format.Name)
		}
		item["enum"] = names
	}
	return map[string]any{"type": "array", "items": item, "uniqueItems": true}
}

// UnmarshalYAML reads the names.
func (f *Formats) UnmarshalYAML(n *yaml.Node) error {
	f.Names = nil
	return n.Decode(&f.Names)
}

// MarshalYAML writes the names.
func (f Formats) MarshalYAML() (any, error) { return f.Names, nil }

// MarshalJSON writes the names.
func (f Formats) MarshalJSON() ([]byte, error) { return json.Marshal(f.Names) }
