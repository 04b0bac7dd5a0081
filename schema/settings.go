package schema

import (
	"encoding/json"
	"fmt"
)

// Setting is one setting of a schema as documentation shows it.
type Setting struct {
	Path, Accepted, Default, Doc string
}

// Settings lists the settings of a mapping in declared order, nested ones by
// their dotted path after the setting that holds them.
func (s *Schema) Settings() []Setting { return settings(s.doc, "") }

func settings(o *object, prefix string) []Setting {
	var list []Setting
	properties := o.object("properties")
	if properties == nil {
		return nil
	}
	for _, key := range properties.keys {
		p := properties.object(key)
		if p == nil {
			continue
		}
		list = append(list, Setting{prefix + key, accepted(p), defaultText(p.get("default")), p.text("description")})
		list = append(list, settings(p, prefix+key+".")...)
	}
	return list
}

func defaultText(v any) string {
	if v == nil {
		return ""
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// AnyOf accepts what one of the schemas accepts.
func AnyOf(schemas ...*Schema) *Schema {
	options := make([]any, len(schemas))
	for i, s := range schemas {
		options[i] = s.doc
	}
	return newSchema(newObject("anyOf", options))
}

// TextSchema accepts any text that is not empty.
func TextSchema() *Schema { return newSchema(newObject("type", "string", "minLength", 1)) }
