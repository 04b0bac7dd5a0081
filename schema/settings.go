package schema

import (
	"encoding/json"
	"fmt"
)

// fullPath is under without shortening, for paths that are looked up again.
func fullPath(path string, part any) string {
	if i, ok := part.(int); ok || path == "" {
		if ok {
			return path + Path(i)
		}
		return Path(part)
	}
	return path + "." + Path(part)
}

func list(o *object, key string) []*object {
	all, _ := o.get(key).([]any)
	var objects []*object
	for _, x := range all {
		if c, ok := x.(*object); ok {
			objects = append(objects, c)
		}
	}
	return objects
}

// Setting describes one setting for documentation.
type Setting struct {
	Path      string `json:"path"`
	Doc       string `json:"doc"`
	Accepted  string `json:"accepted"`
	Default   string `json:"default,omitempty"` // as JSON
	Required  bool   `json:"required"`
	NamesFile bool   `json:"-"` // it is the path of a file, or a list of them
}

// Settings lists the settings of a struct's schema in declared order, those of nested structs by their
// path: of a list's items as path[], of a mapping from names as path.NAME.
func (s *Schema) Settings() []Setting { return settings(s.doc, "") }

func settings(o *object, path string) []Setting {
	var all []Setting
	required := map[any]bool{}
	names, _ := o.get("required").([]any)
	for _, r := range names {
		required[r] = true
	}
	ps := o.object("properties")
	if ps == nil {
		return nil
	}
	for _, k := range ps.keys {
		p := ps.object(k)
		one := Setting{Path: fullPath(path, k), Doc: p.text("description"), Accepted: accepted(p), Required: required[k], NamesFile: namesFile(p)}
		if v, ok := p.values["default"]; ok {
			one.Default = asJSON(v)
		}
		all = append(all, one)
		all = append(all, settings(p, one.Path)...)
		if items := p.object("items"); items != nil {
			all = append(all, settings(items, one.Path+"[]")...)
		}
		if named := p.object("additionalProperties"); named != nil {
			all = append(all, settings(named, one.Path+".NAME")...)
		}
	}
	return all
}

// namesFile reports whether a setting is the path of a file, or a list of them.
func namesFile(o *object) bool {
	if items := o.object("items"); items != nil {
		return namesFile(items)
	}
	return o.text("format") == "path"
}

func asJSON(v any) string {
	j, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(j)
}
