package schema

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"regexp"

	"gopkg.in/yaml.v3"
)

// Decode checks the value at a dotted path against the schema of what it decodes into, and decodes it
// over the values that are there: a setting that the file leaves out keeps its default. Lists and maps
// are replaced, nested structs are merged, null unsets a pointer. into are non-nil pointers; with several
// structs each key goes to the struct that has it (a stage's own settings beside the common ones).
// A setting with a problem keeps its default, and so does a list or mapping with one inside. A path
// without a value decodes as an empty mapping.
func (d *Document) Decode(path string, dst ...any) []Problem {
	n, err := d.node(path)
	if err != nil {
		return []Problem{{File: d.file, Path: shorten(path), Hint: err.Error()}}
	}
	if n == nil {
		return d.decodeMissing(path, dst)
	}
	question := d.checked.question(n, dst)
	if d.checked.right(question) {
		return d.decodeInto(n, path, nil, dst)
	}
	s, err := union(dst)
	if err != nil {
		return []Problem{{File: d.file, Path: path, Hint: err.Error()}}
	}
	wrong := d.check(n, path, s)
	if len(wrong) == 0 {
		d.checked.add(question)
	}
	return d.decodeInto(n, path, wrong, dst)
}

// decodeInto decodes what a check has found no problems with, and returns these and its own.
func (d *Document) decodeInto(n *yaml.Node, path string, ps []Problem, dst []any) []Problem {
	if len(ps) >= maxProblems {
		return ps
	}
	dec := &decoder{d, ps, structs{}}
	for _, v := range dst {
		ps = append(ps, dec.decode(n, reflect.ValueOf(v).Elem(), path)...)
	}
	return tidy(ps)
}

// decoder decodes what the check has not found wrong.
type decoder struct {
	*Document
	wrong   []Problem
	structs structs
}

// decodeMissing reports the required settings of a mapping that is not there.
func (d *Document) decodeMissing(path string, dst []any) []Problem {
	s, err := union(dst)
	if err != nil {
		return []Problem{{File: d.file, Path: path, Hint: err.Error()}}
	}
	required, _ := s.doc.get("required").([]any)
	if len(required) == 0 && hasType(s.doc, "object") {
		return nil
	}
	return []Problem{d.Problem(path, accepted(s.doc), "")}
}

// union returns one schema for all structs that share a mapping.
func union(into []any) (*Schema, error) {
	var all []*Schema
	for _, v := range into {
		if rv := reflect.ValueOf(v); rv.Kind() != reflect.Pointer || rv.IsNil() {
			return nil, fmt.Errorf("schema: decoding into %T, must be a non-nil pointer", v)
		}
		s, err := Derive(v)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return Merge(all...)
}

// decode sets v from n: a struct setting by setting, anything else as a whole.
func (d *decoder) decode(n *yaml.Node, v reflect.Value, path string) []Problem {
	parts := v.Kind() == reflect.Struct && !decodesItself(v.Type())
	for _, p := range d.wrong {
		if p.Path == path || !parts && Within(p.Path, path) {
			return nil
		}
	}
	if parts {
		return d.decodeStruct(n, v, path)
	}
	whole := reflect.New(v.Type()).Elem()
	whole.Set(v)
	ps := d.decodeWhole(n, whole, path)
	if len(ps) == 0 {
		v.Set(whole)
	}
	return ps
}

func (d *decoder) decodeWhole(n *yaml.Node, v reflect.Value, path string) []Problem {
	if decodesItself(v.Type()) {
		return d.leaf(n, v, path)
	}
	switch v.Kind() {
	case reflect.Pointer:
		return d.decodePointer(n, v, path)
	case reflect.Map:
		return d.decodeMap(n, v, path)
	case reflect.Slice:
		if v.Type().Implements(orderedType) {
			return d.decodeOrdered(n, v, path)
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
		return d.decodeItems(n, v, path)
	case reflect.Array:
		return d.decodeItems(n, v, path)
	}
	return d.leaf(n, v, path)
}

func decodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(unmarshalerType) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// leaf decodes by yaml.v3 and places its error.
func (d *decoder) leaf(n *yaml.Node, v reflect.Value, path string) []Problem {
	err := n.Decode(v.Addr().Interface())
	if err == nil {
		return nil
	}
	p := d.problemAt(n, path)
	p.Found, p.Hint = found(n), err.Error()
	var ownValue Problem
	if errors.As(err, &ownValue) {
		if p.Line > 0 && ownValue.Line > 0 {
			p.Line, p.Column = ownValue.Line, ownValue.Column
		}
		p.Found, p.Accepted, p.Hint = ownValue.Found, ownValue.Accepted, ownValue.Hint
		if ownValue.Path != "" {
			p.Path = path + "." + ownValue.Path
		}
	}
	return []Problem{p}
}

func (d *decoder) decodePointer(n *yaml.Node, v reflect.Value, path string) []Problem {
	if n.Tag == "!!null" {
		v.SetZero()
		return nil
	}
	target := fresh(v.Type().Elem())
	if !v.IsNil() {
		target.Set(v.Elem())
	}
	ps := d.decode(n, target, path)
	v.Set(target.Addr())
	return ps
}

func (d *decoder) decodeStruct(n *yaml.Node, v reflect.Value, path string) []Problem {
	fs, err := d.structs.fields(v.Type())
	if err != nil {
		return []Problem{{File: d.file, Path: path, Hint: err.Error()}}
	}
	var ps []Problem
	for _, f := range fs {
		if c := child(n, f.key); c != nil {
			ps = append(ps, d.decode(c, v.FieldByIndex(f.index), joinPath(path, f.key))...)
		}
	}
	return ps
}

func (d *decoder) decodeMap(n *yaml.Node, v reflect.Value, path string) []Problem {
	v.Set(reflect.MakeMapWithSize(v.Type(), len(n.Content)/2))
	var ps []Problem
	for i := 0; i+1 < len(n.Content); i += 2 {
		elem := fresh(v.Type().Elem())
		ps = append(ps, d.decode(n.Content[i+1], elem, joinPath(path, n.Content[i].Value))...)
		v.SetMapIndex(reflect.ValueOf(n.Content[i].Value).Convert(v.Type().Key()), elem)
	}
	return ps
}

func (d *decoder) decodeOrdered(n *yaml.Node, v reflect.Value, path string) []Problem {
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content)/2, len(n.Content)/2))
	var ps []Problem
	for i := range v.Len() {
		k := n.Content[2*i].Value
		v.Index(i).Field(0).SetString(k)
		v.Index(i).Field(1).Set(fresh(v.Index(i).Field(1).Type()))
		ps = append(ps, d.decode(n.Content[2*i+1], v.Index(i).Field(1), joinPath(path, k))...)
	}
	return ps
}

func (d *decoder) decodeItems(n *yaml.Node, v reflect.Value, path string) []Problem {
	var ps []Problem
	for i, c := range n.Content {
		v.Index(i).Set(fresh(v.Type().Elem()))
		ps = append(ps, d.decode(c, v.Index(i), joinPath(path, i))...)
	}
	return ps
}

// fresh returns a new value of a type with its own defaults: SetDefaults() of a block that is unset, or of an
// element of a list or mapping, takes the place of the values that New holds for the rest.
func fresh(t reflect.Type) reflect.Value {
	p := reflect.New(t)
	if s, ok := p.Interface().(interface{ SetDefaults() }); ok {
		s.SetDefaults()
	}
	return p.Elem()
}

// leadingZero matches numbers such as 014, which YAML 1.1 reads as octal 12 and YAML 1.2 as 14.
var leadingZero = regexp.MustCompile(`^[-+]?0[0-9_]`)

// strict walks the tree, records where each value's key is, makes keys and dates text, and reports
// every construct that Parse refuses.
func (d *Document) strict(n *yaml.Node, path string, depth int) []Problem {
	ps := d.refused(n, path)
	if depth > maxDepth {
		p := d.problemAt(n, path)
		p.Path, p.Found, p.Accepted = "", "nested too deep", fmt.Sprintf("nested at most %d levels deep", maxDepth)
		ps, n.Content = []Problem{p}, nil
	}
	if ps != nil {
		d.bad[n] = true
		return ps
	}
	switch n.Kind {
	case yaml.MappingNode:
		return d.strictMapping(n, path, depth)
	case yaml.SequenceNode:
		for i, c := range n.Content {
			ps = append(ps, d.strict(c, joinPath(path, i), depth+1)...)
		}
		return ps
	case yaml.ScalarNode:
		if n.Tag == "!!timestamp" {
			n.Tag = "!!str"
		}
	}
	return ps
}

// refused reports what is wrong with the node itself.
func (d *Document) refused(n *yaml.Node, path string) []Problem {
	p := d.problemAt(n, path)
	switch {
	case n.Kind == yaml.AliasNode:
		p.Found, p.Accepted = "the alias *"+shorten(n.Value), "written out (aliases are not read)"
	case n.Anchor != "":
		p.Found, p.Accepted = "the anchor &"+shorten(n.Anchor), "a value without an anchor"
	case n.Style&yaml.TaggedStyle != 0:
		p.Found, p.Accepted = "the tag "+shorten(n.Tag), "a value without a tag"
	case n.Kind == yaml.ScalarNode && n.Tag == "!!float" && isNaN(n):
		p.Found, p.Accepted, p.Hint = "not a number ("+n.Value+")", "a number", "for the text write it in quotes"
	case n.Kind == yaml.ScalarNode && n.Style == 0 && isNumber(n) && leadingZero.MatchString(n.Value):
		p.Found, p.Accepted = shorten(n.Value)+", which some read as octal", "a number without leading zeros"
		p.Hint = "for the text write it in quotes"
	default:
		return nil
	}
	return []Problem{p}
}

// strictMapping drops a pair whose key is refused or repeated, so that the rest can still be checked.
func (d *Document) strictMapping(n *yaml.Node, path string, depth int) []Problem {
	var ps []Problem
	retained := n.Content[:0]
	first := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if p := d.refusedKey(k, path, first); p != nil {
			ps = append(ps, *p)
			continue
		}
		k.Tag, first[k.Value] = "!!str", k
		d.keys[v] = k
		retained = append(retained, k, v)
		ps = append(ps, d.strict(v, joinPath(path, k.Value), depth+1)...)
	}
	n.Content = retained
	return ps
}

func (d *Document) refusedKey(k *yaml.Node, path string, first map[string]*yaml.Node) *Problem {
	p := d.problemAt(k, path)
	const plain = "a key of plain text"
	switch {
	case k.Kind == yaml.ScalarNode && k.Tag == "!!merge":
		p.Found, p.Accepted = "the merge key <<", "keys written out"
	case k.Kind == yaml.AliasNode:
		p.Found, p.Accepted = "an alias as a key", plain
	case k.Kind != yaml.ScalarNode:
		p.Found, p.Accepted = found(k)+" as a key", plain
	case k.Anchor != "" || k.Style&yaml.TaggedStyle != 0:
		p.Found, p.Accepted = "an anchor or a tag on a key", plain
	case k.Tag == "!!null":
		p.Found, p.Accepted = "an empty key (null)", plain
	case first[k.Value] != nil:
		p.Path = joinPath(path, k.Value)
		p.Found = fmt.Sprintf("a key that line %d already has", first[k.Value].Line)
		p.Accepted = "given once"
	default:
		return nil
	}
	return &p
}

func isNumber(n *yaml.Node) bool { return n.Tag == "!!int" || n.Tag == "!!float" }

func isNaN(n *yaml.Node) bool {
	var f float64
	return n.Decode(&f) == nil && f != f
}
