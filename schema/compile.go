package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// compiled hands a schema to jsonschema/v5. Two things differ from the published form: number formats are
// held to the range of the Go type, and uniqueItems, which the library checks by comparing all pairs,
// becomes x-unique, which is linear. The library holds every schema against that of its draft first: draft 7
// has one for all words that are used here, draft 2020-12 seven, in twice the time.
func compiled(doc *object) (*jsonschema.Schema, error) {
	j, err := renamed(doc).(*object).MarshalJSON()
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft7
	c.AssertFormat = true
	c.Formats = map[string]func(any) bool{"int64": isInt64, "uint64": isUint64, "double": isDouble}
	c.LoadURL = func(url string) (io.ReadCloser, error) { return nil, fmt.Errorf("%s: schemas stand alone", url) }
	c.RegisterExtension("x-unique", jsonschema.MustCompileString("weir:unique", "true"), unique{})
	const url = "weir:settings"
	if err := c.AddResource(url, bytes.NewReader(j)); err != nil {
		return nil, err
	}
	return c.Compile(url)
}

// renamed copies a schema with uniqueItems under the name x-unique.
func renamed(v any) any {
	switch v := v.(type) {
	case *object:
		o := newObject()
		for _, k := range v.keys {
			name := k
			if k == "uniqueItems" && v.values[k] == true {
				name = "x-unique"
			}
			o.set(name, renamed(v.values[k]))
		}
		return o
	case []any:
		l := make([]any, len(v))
		for i := range v {
			l[i] = renamed(v[i])
		}
		return l
	}
	return v
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

// repeated is the position of the first item that stood before; -1 when none did.
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
