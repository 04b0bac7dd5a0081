package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// checkDefaults holds every default of a schema to the rules of its own setting; path names the setting.
func checkDefaults(o *object, c *jsonschema.Schema, path string) error {
	if v, ok := o.values["default"]; ok && c != nil {
		if err := accepts(c, v); err != nil {
			return fmt.Errorf("%s: the default %s is refused by the setting's own rules (give a default, required or omitempty): %w",
				path, asJSON(v), err)
		}
	}
	if ps := o.object("properties"); ps != nil {
		for _, k := range ps.keys {
			if err := checkDefaults(ps.object(k), c.Properties[k], fullPath(path, k)); err != nil {
				return err
			}
		}
	}
	if item := o.object("items"); item != nil {
		items, _ := c.Items.(*jsonschema.Schema)
		return checkDefaults(item, items, path)
	}
	if rest, ok := c.AdditionalProperties.(*jsonschema.Schema); ok && o.object("additionalProperties") != nil {
		return checkDefaults(o.object("additionalProperties"), rest, path)
	}
	for i, option := range list(o, "anyOf") {
		if err := checkDefaults(option, c.AnyOf[i], path+"#"+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return nil
}

func accepts(c *jsonschema.Schema, value any) error {
	j, err := json.Marshal(value)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(strings.NewReader(string(j)))
	dec.UseNumber()
	var x any
	if err := dec.Decode(&x); err != nil {
		return err
	}
	return c.Validate(x)
}
