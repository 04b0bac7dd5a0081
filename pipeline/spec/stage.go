package spec

import (
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"

	"weir/pipeline"
	"weir/schema"
)

// stageHead is what every stage of a spec has beside its ports and settings.
type stageHead struct {
	Kind string `yaml:"kind" required:"true" doc:"The sort of stage; weir kinds lists them."`
}

// refList is the YAML of an input: the name of a stage, or a list of them.
type refList []string

// JSONSchema is a name, or a list of names.
func (refList) JSONSchema() map[string]any {
	name := map[string]any{"type": "string", "minLength": 1}
	return map[string]any{"oneOf": []any{name, map[string]any{"type": "array", "items": name}}}
}

// UnmarshalYAML reads a name or a list of names.
func (r *refList) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*r = refList{n.Value}
		return nil
	}
	return n.Decode((*[]string)(r))
}

// MarshalYAML writes a single name without brackets.
func (r refList) MarshalYAML() (any, error) {
	if len(r) == 1 {
		return r[0], nil
	}
	return []string(r), nil
}

// portStruct is a pointer to a struct with one refList a port, so that ports
// are checked, decoded and documented like every other setting.
func portStruct(k *pipeline.Kind) reflect.Value {
	var fields []reflect.StructField
	for _, p := range k.In {
		key := p.Key()
		fields = append(fields, reflect.StructField{
			Name: "P_" + strings.ToUpper(key), Type: reflect.TypeFor[refList](),
			Tag: reflect.StructTag(`yaml:"` + key + `,omitempty" format:"stage" doc:"` + strings.ReplaceAll(p.Doc, `"`, "'") +
				`"`),
		})
	}
	return reflect.New(reflect.StructOf(fields))
}

// readPorts are the references that a decoded portStruct holds, by port.
func readPorts(k *pipeline.Kind, ports reflect.Value) map[string][]pipeline.Ref {
	inputs := map[string][]pipeline.Ref{}
	for i, p := range k.In {
		for _, name := range ports.Elem().Field(i).Interface().(refList) {
			inputs[p.Name] = append(inputs[p.Name], pipeline.ParseRef(name))
		}
	}
	return inputs
}

// writePorts is the inverse of readPorts, for the canonical form.
func writePorts(k *pipeline.Kind, inputs map[string][]pipeline.Ref) reflect.Value {
	ports := portStruct(k)
	for i, p := range k.In {
		var names refList
		for _, r := range inputs[p.Name] {
			names = append(names, r.String())
		}
		ports.Elem().Field(i).Set(reflect.ValueOf(names))
	}
	return ports
}

// StageSchema is the JSON Schema of a stage of kind k: kind, ports, settings.
func StageSchema(k *pipeline.Kind) (*schema.Schema, error) {
	return mergeSchemas(&stageHead{}, portStruct(k).Interface(), k.New())
}

// settingsSchema is StageSchema without kind, which a union adds.
func settingsSchema(k *pipeline.Kind) (*schema.Schema, error) {
	return mergeSchemas(portStruct(k).Interface(), k.New())
}

func mergeSchemas(parts ...any) (*schema.Schema, error) {
	schemas := make([]*schema.Schema, len(parts))
	for i, p := range parts {
		s, err := schema.Of(p)
		if err != nil {
			return nil, err
		}
		schemas[i] = s
	}
	return schema.Merge(schemas...)
}
