package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// field is one setting of a struct, with the tags that hold there.
type field struct {
	reflect.StructField
	key       string
	omitempty bool
	index     []int
	common    *sharedSetting // the declaration that it takes over; nil where it has its own
}

// Fields lists the settings of a struct type as fields whose tags hold there, in declared order, settings of inline
// structs in their place. The error names the field whose tags are wrong.
func Fields(t reflect.Type) ([]reflect.StructField, error) {
	fs, err := fields(t)
	all := make([]reflect.StructField, len(fs))
	for i, f := range fs {
		all[i] = f.StructField
	}
	return all, err
}

// fields lists the settings of a struct in declared order, settings of inline structs in their place.
func fields(t reflect.Type) ([]field, error) {
	var all []field
	var chosen *choice
	for i := range t.NumField() {
		f := t.Field(i)
		tag := strings.Split(f.Tag.Get("yaml"), ",")
		if !f.IsExported() || tag[0] == "-" {
			continue
		}
		some, err := fieldsOf(f, tag)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t, f.Name, err)
		}
		for j := range some {
			some[j].index = append([]int{i}, some[j].index...)
		}
		if keys, ok := f.Tag.Lookup("keys"); ok && chosen == nil {
			chosen = &choice{StructField: f, keys: strings.Fields(keys), inner: some, place: len(all)}
		} else if ok {
			return nil, fmt.Errorf("%s.%s: is a second struct with keys, must be the only one", t, f.Name)
		} else {
			all = append(all, some...)
		}
	}
	all, err := chosen.among(all)
	if err != nil {
		return nil, fmt.Errorf("%s.%s: %w", t, chosen.Name, err)
	}
	return shareAll(t, all), checkKeys(t, all)
}

// structs holds the settings of struct types, so that a list of a thousand columns has them read once.
type structs map[reflect.Type][]field

// fields lists what fields does; nobody changes it.
func (s structs) fields(t reflect.Type) ([]field, error) {
	if all, ok := s[t]; ok {
		return all, nil
	}
	all, err := fields(t)
	if err == nil {
		s[t] = all
	}
	return all, err
}

// checkKeys refuses a key that several fields of a struct have.
func checkKeys(t reflect.Type, all []field) error {
	seen := map[string]bool{}
	for _, f := range all {
		if seen[f.key] {
			return fmt.Errorf("%s.%s: the key %q is declared twice", t, f.Name, f.key)
		}
		seen[f.key] = true
	}
	return nil
}

func fieldsOf(f reflect.StructField, tag []string) ([]field, error) {
	g := field{StructField: f, key: tag[0]}
	for _, option := range tag[1:] {
		switch option {
		case "inline":
			if f.Type.Kind() != reflect.Struct {
				return nil, fmt.Errorf("the yaml tag: is inline on a %s, must be on a struct", f.Type)
			}
			return fields(f.Type)
		case "omitempty":
			g.omitempty = true
		case "flow":
		default:
			return nil, fmt.Errorf("the yaml tag: has the option %q, must have inline, omitempty or none", option)
		}
	}
	if g.key == "" {
		return nil, fmt.Errorf("has no yaml key, must have a tag such as `yaml:\"steps\"`")
	}
	return []field{g}, nil
}

// choice is an inline struct of which the outer struct takes some settings: those in its tag keys.
type choice struct {
	reflect.StructField
	keys  []string
	inner []field // all settings of the inline struct
	place int     // of the inline struct among the outer struct's own settings
}

// among puts the chosen settings among the outer struct's own ones. An own setting that keys names stands where keys
// has it, in place of a setting of the inline struct that has the same key.
func (c *choice) among(outer []field) ([]field, error) {
	if c == nil {
		return outer, nil
	}
	inner, err := c.changed()
	if err != nil {
		return nil, err
	}
	var middle []field
	for _, key := range c.keys {
		f := find(outer, key)
		if f == nil {
			f = find(inner, key)
		}
		if f == nil {
			return nil, fmt.Errorf("the tag keys: has %q, must have settings of the struct or of the one around it", key)
		}
		middle = append(middle, *f)
	}
	left := func(fs []field) []field {
		return slices.DeleteFunc(slices.Clone(fs), func(f field) bool { return slices.Contains(c.keys, f.key) })
	}
	return slices.Concat(left(outer[:c.place]), middle, left(outer[c.place:])), nil
}

func find(fs []field, key string) *field {
	if i := slices.IndexFunc(fs, func(f field) bool { return f.key == key }); i >= 0 {
		return &fs[i]
	}
	return nil
}

// changed returns the settings of the inline struct with what the tags of the choice change: doc.steps is the doc of
// the setting steps.
func (c *choice) changed() ([]field, error) {
	inner := slices.Clone(c.inner)
	for _, pair := range tagPairs(c.Tag) {
		name, key, ok := strings.Cut(pair[0], ".")
		if !ok {
			continue
		}
		f := find(inner, key)
		if f == nil || !slices.Contains(c.keys, key) {
			return nil, fmt.Errorf("the tag %s: names no setting of the tag keys, must name one", pair[0])
		}
		if common, ok := f.Tag.Lookup(name); ok && !narrows(name, common, pair[1]) {
			return nil, fmt.Errorf("the tag %s is %q, must allow no more than %q", pair[0], pair[1], common)
		}
		f.Tag = withTag(f.Tag, name, pair[1])
	}
	return inner, nil
}

// narrows reports whether the special tag allows nothing that the common one forbids. A published schema states both,
// so only such a tag has the effect that it claims.
func narrows(name, common, special string) bool {
	a, errCommon := strconv.ParseFloat(common, 64)
	b, errOwn := strconv.ParseFloat(special, 64)
	numbers := errCommon == nil && errOwn == nil
	switch name {
	case "min", "exclusiveMin", "minItems", "minLength":
		return numbers && b >= a
	case "max", "exclusiveMax", "maxItems":
		return numbers && b <= a
	case "enum":
		words := strings.Split(common, "|")
		return !slices.ContainsFunc(strings.Split(special, "|"), func(w string) bool { return !slices.Contains(words, w) })
	}
	return slices.Contains([]string{"doc", "unit", "example", "required", "default"}, name)
}

// tagPairs lists the names and values of a struct tag, as reflect.StructTag.Lookup reads them.
func tagPairs(tag reflect.StructTag) (pairs [][2]string) {
	for rest := string(tag); ; {
		name, after, _ := strings.Cut(strings.TrimLeft(rest, " "), ":")
		quoted, err := strconv.QuotedPrefix(after)
		if err != nil {
			return pairs
		}
		value, _ := strconv.Unquote(quoted)
		pairs, rest = append(pairs, [2]string{name, value}), after[len(quoted):]
	}
}

// withTag sets one name of a struct tag.
func withTag(tag reflect.StructTag, name, value string) reflect.StructTag {
	text := name + ":" + strconv.Quote(value)
	for _, pair := range tagPairs(tag) {
		if pair[0] != name {
			text += " " + pair[0] + ":" + strconv.Quote(pair[1])
		}
	}
	return reflect.StructTag(text)
}
