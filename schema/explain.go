package schema

import (
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"gopkg.in/yaml.v3"
)

// explainer words the causes that the library found.
type explainer struct {
	d    *Document
	top  *yaml.Node
	path string
	doc  *object
	out  []hinted
	keys map[*yaml.Node]map[string]*yaml.Node // values of mappings that were looked into
}

// hinted is a problem whose suggestion is looked for only if the problem is shown.
type hinted struct {
	Problem
	word  string
	words []string
	value *yaml.Node
	rule  *object
}

func (e *explainer) tell(f *jsonschema.ValidationError) {
	n, path, ok := e.locate(f.InstanceLocation)
	if !ok {
		return
	}
	parts := schemaParts(f)
	var rule *object
	for end := len(parts) - 1; end >= 0 && rule == nil; end-- {
		rule = follow(e.doc, parts[:end])
	}
	k := keyword(f)
	if rule == nil {
		rule = e.doc
	}
	switch k {
	case "additionalProperties":
		e.unknownKeys(n, path, rule)
	case "required":
		e.missingKeys(n, path, rule)
	case "x-unique":
		e.repeatedItem(n, path)
	default:
		e.wrongValue(n, path, rule)
	}
}

func (e *explainer) repeatedItem(n *yaml.Node, path string) {
	if list, ok := instance(n).([]any); ok && repeated(list) >= 0 {
		i := repeated(list)
		p := e.d.problemAt(n.Content[i], joinPath(path, i))
		p.Found, p.Accepted = found(n.Content[i])+" again", "listed once"
		e.add(hinted{Problem: p})
	}
}

// locate walks from the top to the value of a JSON pointer; not ok where Parse has refused the value.
func (e *explainer) locate(p string) (n *yaml.Node, path string, ok bool) {
	n, path = e.top, e.path
	for _, s := range pointer(p) {
		if e.d.bad[n] {
			return nil, "", false
		}
		var part any = s
		if n.Kind == yaml.SequenceNode {
			i, err := strconv.Atoi(s)
			if err != nil {
				return nil, "", false
			}
			part = i
		}
		if n = e.child(n, part); n == nil {
			return nil, "", false
		}
		path = joinPath(path, part)
	}
	return n, path, !e.d.bad[n]
}

// child returns what child does, of a mapping by an index: one of 30,000 keys may have a problem at each.
func (e *explainer) child(n *yaml.Node, part any) *yaml.Node {
	key, ok := part.(string)
	if !ok || n.Kind != yaml.MappingNode {
		return child(n, part)
	}
	if e.keys[n] == nil {
		e.keys[n] = indexed(n)
	}
	return e.keys[n][key]
}

// indexed returns the values of a mapping by key, the first where a key is repeated.
func indexed(n *yaml.Node) map[string]*yaml.Node {
	values := map[string]*yaml.Node{}
	for i := len(n.Content) - 2; i >= 0; i -= 2 {
		values[n.Content[i].Value] = n.Content[i+1]
	}
	return values
}

func (e *explainer) wrongValue(n *yaml.Node, path string, rule *object) {
	p := e.d.problemAt(n, path)
	p.Found, p.Accepted = found(n), accepted(rule)
	e.add(hinted{Problem: p, value: n, rule: rule})
}

func (e *explainer) unknownKeys(n *yaml.Node, path string, rule *object) {
	var names []string
	if ps := rule.object("properties"); ps != nil {
		names = ps.keys
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if rule.object("properties").get(k.Value) != nil {
			continue
		}
		p := e.d.problemAt(k, joinPath(path, k.Value))
		p.Found, p.Accepted = UnknownKey, acceptedKeys(names)
		e.add(hinted{Problem: p, word: k.Value, words: names})
	}
}

// UnknownKey is what a problem has found that is about a key and not about its value.
const UnknownKey = "an unknown key"

func acceptedKeys(names []string) string {
	if len(names) == 0 {
		return "left out"
	}
	all := make([]any, len(names))
	for i, n := range names {
		all[i] = n
	}
	return oneOf(all)
}

func (e *explainer) missingKeys(n *yaml.Node, path string, rule *object) {
	required, _ := rule.get("required").([]any)
	for _, r := range required {
		key, _ := r.(string)
		if child(n, key) != nil {
			continue
		}
		p := e.d.problemAt(n, joinPath(path, key))
		p.Found, p.Accepted = "missing", "given"
		if o := rule.object("properties").object(key); o != nil && len(o.keys) > 0 {
			p.Accepted = accepted(o)
		}
		e.add(hinted{Problem: p})
	}
}

func (e *explainer) add(h hinted) { e.out = append(e.out, h) }

// finish sorts, drops repeats (several keywords of one rule failed), cuts to maxProblems and only then looks for
// suggestions.
func (e *explainer) finish() []Problem {
	ps := make([]Problem, len(e.out))
	hints := map[Problem]hinted{}
	for i, h := range e.out {
		ps[i] = h.Problem
		hints[h.Problem] = h
	}
	ps = capped(tidy(ps))
	for i, p := range ps {
		if h, ok := hints[p]; ok {
			ps[i].Hint = h.hint()
		}
	}
	return ps
}

func (h hinted) hint() string {
	if h.words != nil {
		return DidYouMean(h.word, h.words)
	}
	if h.value == nil {
		return ""
	}
	return valueHint(h.value, h.rule)
}
