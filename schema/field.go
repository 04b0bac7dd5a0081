package schema

import (
	"fmt"
	"reflect"
	"strings"
)

// field is one setting of a struct.
type field struct {
	reflect.StructField
	key       string
	omitempty bool
	index     []int
}

// fields lists the settings of a struct in declared order, those of inline structs in their place.
func fields(t reflect.Type) ([]field, error) {
	var all []field
	seen := map[string]bool{}
	for i := range t.NumField() {
		f := t.Field(i)
		tag := strings.Split(f.Tag.Get("yaml"), ",")
		if !f.IsExported() || tag[0] == "-" {
			continue
		}
		one, err := fieldsOf(f, tag)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t, f.Name, err)
		}
		for _, g := range one {
			if seen[g.key] {
				return nil, fmt.Errorf("%s.%s: the key %q is declared twice", t, f.Name, g.key)
			}
			seen[g.key] = true
			g.index = append([]int{i}, g.index...)
			all = append(all, g)
		}
	}
	return all, nil
}

func fieldsOf(f reflect.StructField, tag []string) ([]field, error) {
	g := field{StructField: f, key: tag[0]}
	for _, option := range tag[1:] {
		switch option {
		case "inline":
			if f.Type.Kind() != reflect.Struct {
				return nil, fmt.Errorf("inline is for structs, not %s", f.Type)
			}
			return fields(f.Type)
		case "omitempty":
			g.omitempty = true
		case "flow":
		default:
			return nil, fmt.Errorf("the yaml tag has the unknown option %q", option)
		}
	}
	if g.key == "" {
		return nil, fmt.Errorf("has no yaml key, must have a tag such as `yaml:\"steps\"`")
	}
	return []field{g}, nil
}
