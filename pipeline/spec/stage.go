package spec

import (
	"fmt"
	"reflect"
	"slices"
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

// JSONSchema returns a name, or a list of names.
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

// portStruct returns a pointer to a struct with one refList a port, so that ports
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

// readPorts returns the references that a decoded portStruct holds, by port.
func readPorts(k *pipeline.Kind, ports reflect.Value) map[string][]pipeline.Ref {
	inputs := map[string][]pipeline.Ref{}
	for i, p := range k.In {
		for _, name := range ports.Elem().Field(i).Interface().(refList) {
			inputs[p.Name] = append(inputs[p.Name], pipeline.ParseRef(name))
		}
	}
	return inputs
}

// writePorts undoes readPorts, for the canonical form.
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

// StageSchema returns the JSON Schema of a stage of kind k: kind, ports, settings.
func StageSchema(k *pipeline.Kind) (*schema.Schema, error) {
	return mergeSchemas(&stageHead{}, portStruct(k).Interface(), k.New())
}

// settingsSchema returns StageSchema without kind, which a union adds, with what the kind does in a sentence.
func settingsSchema(k *pipeline.Kind) (*schema.Schema, error) {
	s, err := mergeSchemas(portStruct(k).Interface(), k.New())
	if err != nil {
		return nil, err
	}
	return s.Described(k.Summary()), nil
}

func mergeSchemas(parts ...any) (*schema.Schema, error) {
	schemas := make([]*schema.Schema, len(parts))
	for i, p := range parts {
		s, err := schema.Derive(p)
		if err != nil {
			return nil, err
		}
		schemas[i] = s
	}
	return schema.Merge(schemas...)
}

// fillInputs writes out the inputs that a spec leaves to their defaults, so that
// the canonical form shows them.
func fillInputs(stages []Stage) {
	for i := range stages {
		s := &stages[i]
		for p := range s.Kind.In {
			port := &s.Kind.In[p]
			if len(s.Inputs[port.Name]) == 0 && s.Stage != nil {
				if refs := defaultRefs(stages[:i], port); len(refs) > 0 {
					s.Inputs[port.Name] = refs
				}
			}
		}
	}
}

// defaultRefs: `from` is the stage above; a port that takes many reads every
// stage above whose first output has its form.
func defaultRefs(upper []Stage, port *pipeline.Port) []pipeline.Ref {
	if port.Many {
		var refs []pipeline.Ref
		for _, s := range upper {
			if port.Takes(s.Kind.Out[0].Form) {
				refs = append(refs, pipeline.Ref{Stage: s.ID})
			}
		}
		return refs
	}
	if port.Name != "in" || port.Optional {
		return nil
	}
	if len(upper) == 0 {
		return []pipeline.Ref{{Stage: pipeline.DatasetID}}
	}
	return []pipeline.Ref{{Stage: upper[len(upper)-1].ID}}
}

// Predicted is a column that stages of a spec predict.
type Predicted struct {
	Column string
	By     []string // names of stages, in the order of the spec
}

// Predicted lists the columns that stages of the spec predict, in its order.
func (s *Spec) Predicted() []Predicted { return predicted(s.Stages) }

func predicted(stages []Stage) []Predicted {
	var list []Predicted
	for i := range stages {
		key, ok := stages[i].Stage.(pipeline.Predictor)
		if !ok || key.Predicts() == "" {
			continue
		}
		pos := slices.IndexFunc(list, func(p Predicted) bool { return p.Column == key.Predicts() })
		if pos < 0 {
			pos, list = len(list), append(list, Predicted{Column: key.Predicts()})
		}
		list[pos].By = append(list[pos].By, stages[i].ID)
	}
	return list
}

// fillTargets writes out the targets that a spec leaves to its evaluation, so that the
// canonical form shows them: none where nothing is predicted, so that `target: none` is
// no other computation. Where several columns are predicted the spec has to say which.
func (p *parser) fillTargets(stages []Stage) {
	list := predicted(stages)
	for i := range stages {
		aimed, ok := stages[i].Stage.(pipeline.Aimed)
		if !ok || *aimed.AimAt() != "" || p.wrong(targetOf(&stages[i])) {
			continue
		}
		switch len(list) {
		case 0:
			*aimed.AimAt() = pipeline.NoTarget
		case 1:
			*aimed.AimAt() = list[0].Column
		default:
			p.ask(&stages[i], list)
		}
	}
}

func targetOf(s *Stage) string { return schema.Path("stages", s.ID, "target") }

// ask wants a target, where more than one may be meant.
func (p *parser) ask(s *Stage, list []Predicted) {
	var byName, columns []string
	for _, l := range list {
		byName = append(byName, fmt.Sprintf("%s (predicted by %s)", l.Column, strings.Join(l.By, ", ")))
		columns = append(columns, l.Column)
	}
	p.problemAt(targetOf(s), "left out, and the spec names "+strings.Join(byName, " and "),
		fmt.Sprintf("one of %s, or %s", strings.Join(columns, ", "), pipeline.NoTarget), "")
	s.wrong = append(s.wrong, targetOf(s))
}
