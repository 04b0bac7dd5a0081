package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"gopkg.in/yaml.v3"
)

// check holds the value n, which stands at path, to a schema and returns every problem, causes only,
// sorted by position (at most 200 and one that counts the rest).
func (d *Document) check(n *yaml.Node, path string, s *Schema) []Problem {
	c, err := compiled(needed(s.doc, n))
	if err != nil {
		return []Problem{{File: d.file, Path: path, Hint: "the schema is wrong: " + err.Error()}}
	}
	err = c.Validate(instance(n))
	var failed *jsonschema.ValidationError
	if err == nil {
		return nil
	}
	if !errors.As(err, &failed) {
		return []Problem{{File: d.file, Path: path, Hint: "the check ended early: " + err.Error()}}
	}
	e := &explainer{d: d, top: n, path: path, doc: s.doc, keys: map[*yaml.Node]map[string]*yaml.Node{}}
	for _, f := range causes(failed) {
		e.tell(f)
	}
	return e.finish()
}

// needed returns what of a schema can say anything of a value: of the settings of a mapping those that it
// has. A kind has some thirty, of which a spec names five, and to compile the others took most of a check.
func needed(o *object, n *yaml.Node) *object {
	all := o.object("properties")
	if all == nil || n.Kind != yaml.MappingNode {
		return o
	}
	has := newObject()
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i].Value
		if p := all.object(k); p != nil {
			has.set(k, needed(p, n.Content[i+1]))
		} else if all.get(k) != nil {
			has.set(k, all.get(k))
		}
	}
	c := o.copy()
	c.set("properties", has)
	return c
}

// instance turns YAML into the values that the library checks: numbers by value, so that 0x10 is 16.
func instance(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			m[n.Content[i].Value] = instance(n.Content[i+1])
		}
		return m
	case yaml.SequenceNode:
		l := make([]any, len(n.Content))
		for i, c := range n.Content {
			l[i] = instance(c)
		}
		return l
	case yaml.ScalarNode:
		return scalar(n)
	}
	return nil
}

func scalar(n *yaml.Node) any {
	var v any
	if n.Tag == "!!str" {
		return n.Value
	}
	if err := n.Decode(&v); err != nil {
		return n.Value
	}
	switch v := v.(type) {
	case int:
		return json.Number(strconv.Itoa(v))
	case int64:
		return json.Number(strconv.FormatInt(v, 10))
	case uint64:
		return json.Number(strconv.FormatUint(v, 10))
	case float64:
		return number(v)
	case bool, nil:
		return v
	}
	return n.Value
}

func number(f float64) json.Number {
	switch {
	case f != f:
		return "0" // Parse has refused NaN; its place is marked bad
	case f-f != 0 && f > 0:
		return infinite
	case f-f != 0:
		return "-" + infinite
	}
	return json.Number(formatFloat(f))
}

// causes flattens the tree of the library to what is at fault. An anyOf whose options all failed is one
// cause, unless one option plainly is the one that was meant.
func causes(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	if k := keyword(e); k == "anyOf" || k == "oneOf" {
		return relevantCauses(e)
	}
	var all []*jsonschema.ValidationError
	for _, c := range e.Causes {
		all = append(all, causes(c)...)
	}
	return all
}

// relevantCauses picks the option of an anyOf that fits the value's shape and fails deeper, with the fewest causes,
// where a wrong constant (another option's mark) counts most. Without one the anyOf itself is the cause.
func relevantCauses(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	var best []*jsonschema.ValidationError
	least := 1 << 30
	for _, option := range e.Causes {
		leaves := causes(option)
		score, deeper := 0, false
		for _, l := range leaves {
			k, here := keyword(l), l.InstanceLocation == e.InstanceLocation
			score++
			if !here || k == "additionalProperties" || k == "required" {
				deeper = true
			}
			if k == "const" {
				score += 1 << 10
			}
		}
		if deeper && score < least {
			best, least = leaves, score
		}
	}
	if best == nil {
		return []*jsonschema.ValidationError{e}
	}
	return best
}

func keyword(e *jsonschema.ValidationError) string {
	parts := schemaParts(e)
	if len(parts) == 0 {
		return ""
	}
	return parts[len(parts)-1]
}

func schemaParts(e *jsonschema.ValidationError) []string {
	_, fragment, _ := strings.Cut(e.AbsoluteKeywordLocation, "#")
	return pointer(fragment)
}

// compiled hands a schema to jsonschema/v5. Two things differ from the published form: number formats are
// held to the range of the Go type, and uniqueItems, which the library checks by comparing all pairs,
// becomes x-unique, which is linear. The library holds every schema against the schema of its draft first: draft 7
// has one for all words that are used here, draft 2020-12 seven, in twice the time.
func compiled(doc *object) (*jsonschema.Schema, error) {
	j, err := bare(doc).(*object).MarshalJSON()
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft7
	c.AssertFormat = true
	c.Formats = map[string]func(any) bool{"int64": isInt64, "uint64": isUint64, "double": isDouble}
	c.LoadURL = func(url string) (io.ReadCloser, error) { return nil, fmt.Errorf("%s: schemas stand alone", url) }
	c.RegisterExtension("x-unique", nil, unique{})
	const url = "weir:settings"
	if err := c.AddResource(url, bytes.NewReader(j)); err != nil {
		return nil, err
	}
	return c.Compile(url)
}

// bare copies a schema with uniqueItems under the name x-unique, and without the words that are for people: to read
// these took half of a compilation.
func bare(v any) any {
	switch v := v.(type) {
	case *object:
		o := newObject()
		for _, k := range v.keys {
			switch x := v.values[k]; {
			case k == "properties":
				o.set(k, bareSettings(v.object(k)))
			case k == "uniqueItems" && x == true:
				o.set("x-unique", true)
			case !slices.Contains([]string{"title", "description", "default", "examples"}, k):
				o.set(k, bare(x))
			}
		}
		return o
	case []any:
		l := make([]any, len(v))
		for i := range v {
			l[i] = bare(v[i])
		}
		return l
	}
	return v
}

// bareSettings copies the schemas of settings, whose names are not words of a schema.
func bareSettings(settings *object) *object {
	o := newObject()
	for _, name := range settings.keys {
		o.set(name, bare(settings.values[name]))
	}
	return o
}

// infinite is how .inf reaches the library, which has no infinite numbers: any number beyond float64.
const infinite = json.Number("1e999")

func isDouble(v any) bool {
	n, ok := v.(json.Number)
	if !ok {
		return true
	}
	f, err := n.Float64()
	return err == nil && !math.IsInf(f, 0)
}

func isInt64(v any) bool {
	n, ok := v.(json.Number)
	if !ok {
		return true
	}
	if _, err := n.Int64(); err == nil {
		return true
	}
	f, err := n.Float64() // 1e5; below 2^63, which float64 holds exactly
	return err == nil && f >= -(1<<63) && f < 1<<63 && !isDigits(string(n))
}

func isUint64(v any) bool {
	n, ok := v.(json.Number)
	if !ok {
		return true
	}
	if _, err := strconv.ParseUint(string(n), 10, 64); err == nil {
		return true
	}
	f, err := n.Float64()
	return err == nil && f >= 0 && f < 1<<64 && !isDigits(string(n))
}

// isDigits tells a written integer from an exponent or a fraction.
func isDigits(s string) bool {
	for _, c := range s {
		if c != '-' && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// unique is the linear form of uniqueItems: items are compared by their JSON.
type unique struct{}

func (unique) Compile(_ jsonschema.CompilerContext, m map[string]any) (jsonschema.ExtSchema, error) {
	if m["x-unique"] == true {
		return unique{}, nil
	}
	return nil, nil
}

func (unique) Validate(ctx jsonschema.ValidationContext, v any) error {
	list, _ := v.([]any)
	if repeated(list) >= 0 {
		return ctx.Error("x-unique", "items repeat")
	}
	return nil
}

// repeated returns the position of the first item that stood before; -1 when none did.
func repeated(list []any) int {
	seen := make(map[string]bool, len(list))
	for i, x := range list {
		j, err := json.Marshal(x)
		if err == nil && seen[string(j)] {
			return i
		}
		seen[string(j)] = true
	}
	return -1
}
