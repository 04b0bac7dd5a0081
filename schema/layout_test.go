package schema

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// laidOut has one of each sort of setting.
type laidOut struct {
	First  int                       `yaml:"first"`
	Stages Ordered[Raw]              `yaml:"stages,omitempty"`
	Block  *laidInner                `yaml:"block,omitempty"`
	List   []laidInner               `yaml:"list,omitempty"`
	Own    map[string]map[string]int `yaml:"own,omitempty"`
	Last   string                    `yaml:"last"`
	One    oneForm                   `yaml:"one,omitempty"`
}

// oneForm is a word, or a mapping that is written by hand.
type oneForm struct{ yaml.Node }

func (oneForm) JSONSchema() map[string]any {
	number := map[string]any{"type": "integer"}
	return map[string]any{"oneOf": []any{map[string]any{"const": "row"}, map[string]any{"type": "object",
		"required": []any{"name", "most"}, "properties": map[string]any{"keep": number, "most": number, "name": number}}}}
}

func (o *oneForm) UnmarshalYAML(n *yaml.Node) error { o.Node = *n; return nil }

type laidInner struct {
	A int    `yaml:"a"`
	B string `yaml:"b"`
	C []int  `yaml:"c,omitempty"`
}

func layoutSchema(t testing.TB) *Schema {
	t.Helper()
	s, err := Of(&laidOut{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFormat: each text has the layout that stands behind it, worked out by hand from the rules of Format, and that
// layout stays as it is.
func TestFormat(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"order":              {"last: x\nfirst: 1\n", "first: 1\nlast: x\n"},
		"unknown keys":       {"zebra: 1\nlast: x\napple: 2\nfirst: 1\n", "first: 1\nlast: x\nzebra: 1\napple: 2\n"},
		"keys of the user":   {"own:\n    z: {b: 1, a: 2}\n    a: {}\n", "own:\n  z: {b: 1, a: 2}\n  a: {}\n"},
		"order of stages":    {"stages:\n z: {kind: b}\n a: {kind: a}\n", "stages:\n  z: {kind: b}\n  a: {kind: a}\n"},
		"blanks":             {"first:    1\nblock: { b : x,a:  1 }\n", "first: 1\nblock: {a: 1, b: x}\n"},
		"empty lines":        {"\n\nfirst: 1\n\n\n\nlast: x\n\n", "first: 1\n\nlast: x\n"},
		"ends of lines":      {"\ufefffirst: 1\r\nlast: x   \r\n", "first: 1\nlast: x\n"},
		"no last line feed":  {"first: 1", "first: 1\n"},
		"marks of documents": {"---\nfirst: 1\n...\n", "first: 1\n"},
		"spellings": {"first: 0x10\nlast: 'it''s' \nblock: {a: 1e5, b: \"\\u00e9 # no\"}\n",
			"first: 0x10\nblock: {a: 1e5, b: \"\\u00e9 # no\"}\nlast: 'it''s'\n"},
		"comments of settings": {"# top\n\n# of last\nlast: x    # x\n# of first\nfirst: 1  # one\n# end\n",
			"# top\n\n# of first\nfirst: 1 # one\n# of last\nlast: x # x\n# end\n"},
		"comment at the top stays": {"# top\nlast: x\nfirst: 1\n", "# top\nfirst: 1\nlast: x\n"},
		"comments below": {"block:\n  a: 1\n  # below a\n# of last\nlast: x\n",
			"block:\n  a: 1\n  # below a\n# of last\nlast: x\n"},
		"comment behind a key": {"block:  # of block\n    # of b\n    b: x\n    a: 1\n",
			"block: # of block\n  a: 1\n  # of b\n  b: x\n"},
		"list": {"list:\n- b: x\n  # of a\n  a: 1\n-   a: 2 # two\n",
			"list:\n  # of a\n  - a: 1\n    b: x\n  - a: 2 # two\n"},
		"dash alone": {"list:\n  # above\n  - # alone\n    b: x\n    a: 1\n  - {b: y, a: 2}\n",
			"list:\n  # above\n  # alone\n  - a: 1\n    b: x\n  - {a: 2, b: y}\n"},
		"lists in lists":   {"zebra:\n- - 1\n  - 2\n- - 3\n", "zebra:\n  - - 1\n    - 2\n  - - 3\n"},
		"nothing given":    {"first:\nlast:   # later\nzebra:\n-\n- 1\n", "first:\nlast: # later\nzebra:\n  -\n  - 1\n"},
		"one of":           {"one: {keep: 1, most: 2, name: 3}\nlast: x\n", "last: x\none: {name: 3, most: 2, keep: 1}\n"},
		"one of, the word": {"one: row\nlast: x\n", "last: x\none: row\n"},
		"brackets in lines": {"block: {b: x,\n     c: [1,2,\n  3],   # three\n  a: 1}\n",
			"block: {b: x,\n  c: [1, 2,\n    3], # three\n  a: 1}\n"},
		"brackets in lines, sorted":       {"block: {b: x,\n  a: 1\n}\n", "block: {a: 1,\n  b: x\n}\n"},
		"brackets in a line of their own": {"block:\n  {b: x, a: 1} # both\n", "block:\n  {a: 1, b: x} # both\n"},
		"comments in brackets": {"block:\n  c: [ # first\n    1,\n      # of two\n    2, # two\n    # end\n  ]\n",
			"block:\n  c: [ # first\n    1,\n    # of two\n    2 # two\n    # end\n  ]\n"},
		"comment at once behind a bracket": {"zebra: {a: 3c}#x\n", "zebra: {a: 3c} #x\n"},
		"pair in a list":                   {"zebra: [a: 1, b]\n", "zebra: [{a: 1}, b]\n"},
		"sets":                             {"zebra: {a, b: }\n", "zebra: {a, b}\n"},
		"text in lines": {"last: one\n   two\n\n   three # end\nfirst: 1\n",
			"first: 1\nlast: one\n  two\n\n  three # end\n"},
		"quoted text in lines": {"last: \"one\n      # two\\\n      three\"\nfirst: 1\n",
			"first: 1\nlast: \"one\n  # two\\\n  three\"\n"},
		"block text": {"last: |-   # text\n      # no comment\n        more\n\n      end\n\nfirst: 1\n",
			"first: 1\nlast: |- # text\n  # no comment\n    more\n\n  end\n"},
		"block text that keeps its end": {"last: |+\n    a\n\n\nfirst: 1\n", "first: 1\nlast: |+\n  a\n\n\n"},
		"block text in a list":          {"zebra:\n- >\n   a\n   b\n", "zebra:\n  - >\n    a\n    b\n"},
		"all in brackets": {"# top\n{last: x, first: 1} # end\n# below\n",
			"# top\n{first: 1, last: x} # end\n# below\n"},
		"quoted keys":     {"\"last\": x\n'first':   1\n", "'first': 1\n\"last\": x\n"},
		"long characters": {"last: \"ü🙂\" # ü\nfirst: 1\n", "first: 1\nlast: \"ü🙂\" # ü\n"},
	} {
		got, ps := Format("x.yaml", []byte(c.in), layoutSchema(t))
		if len(ps) > 0 || string(got) != c.want {
			t.Errorf("%s: got\n%s%v\nmust be\n%s", name, got, ps, c.want)
			continue
		}
		if again, ps := Format("x.yaml", got, layoutSchema(t)); len(ps) > 0 || string(again) != string(got) {
			t.Errorf("%s: laid out again:\n%s%v\nmust be\n%s", name, again, ps, got)
		}
	}
}

// TestFormatRefuses: what Parse refuses, and what would lose something.
func TestFormatRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"a: &x 1\nb: *x\n":              "the anchor &x",
		"a: 1\na: 2\n":                  "a key that line 1 already has",
		"a:\n\tb: 1\n":                  "indented with a tab",
		"a: !!str 1\n":                  "the tag",
		"a: 1\n---\nb: 2\n":             "a second document",
		"- 1\n":                         "which is not a mapping of settings",
		"a: |2\n   b\n":                 "an indentation indicator (|2)",
		"%YAML 1.1\n---\na: 1\n":        "a directive",
		"a: 1\u0085b: 2\n":              "ends otherwise than by a line feed",
		"a: 1\rb: 2\n":                  "ends otherwise than by a line feed",
		"--- # of the document\na: 1\n": "without losing text",
	} {
		got, ps := Format("x.yaml", []byte(in), layoutSchema(t))
		if got != nil || len(ps) == 0 || !strings.Contains(Problems(ps).Error(), want) {
			t.Errorf("%q: %q, %v; must be refused with %q", in, got, ps, want)
		}
	}
}

// FuzzFormat: whatever a file says, what Format returns is read by a parser as the same values, has as many marks of
// comments, and stays as it is.
func FuzzFormat(f *testing.F) {
	s := layoutSchema(f)
	for _, text := range []string{"a:\n- b: 1 # x\n  # y\n  c: |\n    # z\n- [1,\n # k\n 2]\n", "{a: 1,\n# c\nb: {c}}",
		"a: 'x\n\n  # y'\n", "list:\n  - - # a\n    - b: \"c\\\n     d\"\n      a: >-\n        t\n", "? a\n: b # c\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, ps := Format("x.yaml", data, s)
		if len(ps) > 0 {
			return
		}
		var before, after any
		if yaml.Unmarshal(data, &before) != nil || yaml.Unmarshal(text, &after) != nil ||
			!reflect.DeepEqual(before, after) {
			t.Fatalf("%q is laid out as %q, which says something else", data, text)
		}
		if a, b := bytes.Count(data, []byte("#")), bytes.Count(text, []byte("#")); a != b {
			t.Fatalf("%q is laid out as %q: %d marks of comments have become %d", data, text, a, b)
		}
		if again, ps := Format("x.yaml", text, s); len(ps) > 0 || !bytes.Equal(again, text) {
			t.Fatalf("%q is laid out as %q and then as %q: %v", data, text, again, ps)
		}
	})
}
