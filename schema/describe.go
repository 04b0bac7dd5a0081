package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// maxListed is how many allowed words or keys a problem lists.
const maxListed = 12

// accepted says in words what a schema accepts: "a whole number of at least 1".
func accepted(o *object) string {
	if t := o.text("title"); t != "" {
		return t
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		if opts, ok := o.get(k).([]any); ok {
			return acceptedOptions(opts)
		}
	}
	if c, ok := o.values["const"]; ok {
		return word(c)
	}
	if enum, ok := o.get("enum").([]any); ok {
		return oneOf(enum)
	}
	var names []string
	for _, t := range types(o) {
		if t != "null" {
			names = append(names, acceptedType(o, t))
		}
	}
	if len(names) == 0 && o.get("type") == "null" {
		return "null"
	}
	if len(names) == 0 {
		return "another value"
	}
	s := strings.Join(names, " or ")
	if unit := o.text("x-unit"); unit != "" {
		s += " (" + unit + ")"
	}
	return s
}

func acceptedOptions(opts []any) string {
	var names []string
	for _, opt := range opts {
		if c, ok := opt.(*object); ok && c.get("type") != "null" {
			names = append(names, accepted(c))
		}
	}
	return strings.Join(names, " or ")
}

func acceptedType(o *object, t string) string {
	switch t {
	case "integer":
		return "a whole number" + acceptedRange(o)
	case "number":
		return "a number" + acceptedRange(o)
	case "boolean":
		return "true or false"
	case "string":
		return acceptedText(o)
	case "array":
		return acceptedList(o)
	case "object":
		return acceptedMapping(o)
	}
	return t
}

func acceptedRange(o *object) string {
	bound := func(k string) string { return fmt.Sprint(o.values[k]) }
	var parts []string
	lo, hi := o.get("minimum") != nil && !exclusive(o), o.get("maximum") != nil
	if lo && hi && bound("minimum") == bound("maximum") {
		return " equal to " + bound("minimum")
	}
	if lo && hi {
		return " from " + bound("minimum") + " to " + bound("maximum")
	}
	if lo {
		parts = append(parts, "of at least "+bound("minimum"))
	}
	if o.get("exclusiveMinimum") != nil {
		parts = append(parts, "above "+bound("exclusiveMinimum"))
	}
	if hi {
		parts = append(parts, "at most "+bound("maximum"))
	}
	if o.get("exclusiveMaximum") != nil {
		parts = append(parts, "below "+bound("exclusiveMaximum"))
	}
	if len(parts) == 0 {
		return ""
	}
	return " " + strings.Join(parts, " and ")
}

// exclusive reports whether a number must be above its minimum too.
func exclusive(o *object) bool {
	return o.get("exclusiveMinimum") != nil && fmt.Sprint(o.get("exclusiveMinimum")) == fmt.Sprint(o.get("minimum"))
}

func acceptedText(o *object) string {
	names := map[string]string{"column": "the name of a column", "stage": "the name of a stage",
		"path": "a path", "expression": "an expression"}
	s, ok := names[o.text("format")]
	if !ok {
		s = "text"
	}
	if n := o.get("minLength"); n != nil && fmt.Sprint(n) == "1" {
		s += " that is not empty"
	} else if n != nil {
		s += fmt.Sprintf(" of at least %v characters", n)
	}
	if p := o.text("pattern"); p != "" {
		s += " that matches " + p
	}
	return s
}

func acceptedList(o *object) string {
	lo, hi := o.get("minItems"), o.get("maxItems")
	s := "a list"
	switch {
	case lo != nil && lo == hi:
		s += fmt.Sprintf(" of %v items", lo)
	case lo != nil && hi != nil:
		s += fmt.Sprintf(" of %v to %v items", lo, hi)
	case lo != nil:
		s += fmt.Sprintf(" of at least %v items", lo)
	case hi != nil:
		s += fmt.Sprintf(" of at most %v items", hi)
	}
	if o.get("x-unique") == true || o.get("uniqueItems") == true {
		s += " without repeats"
	}
	if item := o.object("items"); item != nil && len(item.keys) > 0 {
		s += ", each " + accepted(item)
	}
	return s
}

func acceptedMapping(o *object) string {
	if p := o.object("properties"); p != nil && len(p.keys) > 0 {
		if len(p.keys) == 1 {
			return "a mapping with the key " + p.keys[0]
		}
		keys := make([]any, len(p.keys))
		for i, k := range p.keys {
			keys[i] = k
		}
		return "a mapping with keys of " + listed(keys)
	}
	names, n := "names", o.get("minProperties")
	if n != nil {
		names = fmt.Sprintf("%v or more names", n)
	}
	if item := o.object("additionalProperties"); item != nil && len(item.keys) > 0 {
		return "a mapping from " + names + " to " + accepted(item)
	}
	if n != nil {
		return "a mapping of " + names
	}
	return "a mapping"
}

func types(o *object) []string {
	switch t := o.get("type").(type) {
	case string:
		return []string{t}
	case []any:
		var all []string
		for _, x := range t {
			all = append(all, fmt.Sprint(x))
		}
		return all
	}
	return nil
}

func oneOf(values []any) string {
	if len(values) == 1 {
		return listed(values)
	}
	return "one of " + listed(values)
}

// listed joins at most maxListed words.
func listed(values []any) string {
	var words []string
	for _, v := range values {
		if v == nil {
			continue
		}
		words = append(words, word(v))
	}
	if len(words) > maxListed {
		return fmt.Sprintf("%s, … (%d in all)", strings.Join(words[:maxListed], ", "), len(words))
	}
	return strings.Join(words, ", ")
}

// Words joins names by commas. A name with a comma or a blank, and one without letters, is quoted, so that each can be
// told from the next.
func Words(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = word(name)
	}
	return strings.Join(list, ", ")
}

// word writes a constant: text bare, as in YAML, unless that would be ambiguous.
func word(v any) string {
	if s, ok := v.(string); ok && s != "" && !strings.ContainsAny(s, ", ") {
		return shorten(s)
	}
	if v == nil {
		return "null"
	}
	j, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return shorten(string(j))
}

// fullPath returns the path below another without shortening, for paths that are looked up again.
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
	Path      string   `json:"path"`
	Doc       string   `json:"doc"`
	Accepted  string   `json:"accepted"`
	Default   string   `json:"default,omitempty"` // as JSON
	Required  bool     `json:"required"`
	NamesFile bool     `json:"-"` // it is the path of a file, or a list of them
	Values    []string `json:"-"` // its values, where they are a few words; true and false of a boolean
	Shared    string   `json:"-"` // title of the group that it is taken over from, where it says no more than a default
}

// Settings lists the settings of a struct's schema in declared order, settings of nested structs by their
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
		one := Setting{Path: fullPath(path, k), Doc: p.text("description"), Accepted: accepted(p), Required: required[k],
			NamesFile: namesFile(p), Values: values(p), Shared: p.sharedWhole()}
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

// sharedWhole returns the title of the group that a setting is taken over from as it is declared there, but for its default; empty
// where it is its struct's own or says more.
func (o *object) sharedWhole() string {
	if o.common == nil {
		return ""
	}
	group := o.common.group
	common, err := group.schema()
	if err == nil && !slices.ContainsFunc(o.additions(common.object("properties").object(o.common.key)), isNoDefault) {
		return group.tag.Get("title")
	}
	return ""
}

func isNoDefault(word string) bool { return word != "default" }

// namesFile reports whether a setting is the path of a file, or a list of them.
func namesFile(o *object) bool {
	if items := o.object("items"); items != nil {
		return namesFile(items)
	}
	return o.text("format") == "path"
}

// values lists the words that a setting may be.
func values(o *object) (words []string) {
	if c, ok := o.values["const"].(string); ok {
		words = append(words, c)
	}
	if enum, ok := o.get("enum").([]any); ok {
		for _, v := range enum {
			if v != nil {
				words = append(words, fmt.Sprint(v))
			}
		}
	}
	if slices.Contains(types(o), "boolean") && len(types(o)) < 3 {
		words = append(words, "true", "false")
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		for _, option := range list(o, k) {
			words = append(words, values(option)...)
		}
	}
	return words
}

func asJSON(v any) string {
	j, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(j)
}
