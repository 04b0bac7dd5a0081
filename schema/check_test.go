package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTheMeantOption: of two mappings told apart by a constant, the one whose constant stands is explained,
// though the other has fewer faults.
func TestTheMeantOption(t *testing.T) {
	option := func(mark string, settings map[string]any) any {
		settings["type"] = map[string]any{"const": mark}
		return map[string]any{"type": "object", "properties": settings, "additionalProperties": false, "required": []string{"type"}}
	}
	number := map[string]any{"type": "number"}
	s := newSchema(ordered(map[string]any{"anyOf": []any{
		option("a", map[string]any{"x": map[string]any{}, "y": map[string]any{}}),
		option("b", map[string]any{"x": number, "y": number}),
	}}).(*object))
	d := parsed(t, "{type: b, x: one, y: two}\n")
	want := "s.yaml:1:14: x: is the text \"one\", must be a number\ns.yaml:1:22: y: is the text \"two\", must be a number"
	if err := Join(check(d, s)); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// TestCheckKnowsWhatParseRefused: the check does not repeat the problem of an alias.
func TestCheckKnowsWhatParseRefused(t *testing.T) {
	d, ps := Parse("s.yaml", []byte("weir: 1\nname: &n t\nprivacy: {epsilon: 1, adjacency: *n}\n"))
	if len(ps) != 2 {
		t.Fatalf("%v", Join(ps))
	}
	if ps := check(d, specSchema(t)); len(ps) > 0 {
		t.Error(Join(ps))
	}
}

// TestUntypedValues: dates stay text and numbers keep their type where no type is declared.
func TestUntypedValues(t *testing.T) {
	d := parsed(t, "v: [2020-01-01, 1, 1.5, yes, true, ~, {a: b}]\n")
	var v struct {
		V any `yaml:"v"`
	}
	if ps := d.Decode("", &v); len(ps) > 0 {
		t.Fatal(Join(ps))
	}
	want := []any{"2020-01-01", 1, 1.5, "yes", true, nil, map[string]any{"a": "b"}}
	if diff := cmp.Diff(any(want), v.V); diff != "" {
		t.Error(diff)
	}
}

// TestAnyOf: a value that is text or a mapping is explained by the form that was written.
func TestAnyOf(t *testing.T) {
	csv, err := Of(testCSV{Delimiter: ","})
	if err != nil {
		t.Fatal(err)
	}
	s := AnyOf(PathSchema(), csv)
	for text, want := range map[string]string{
		"a.csv":           "",
		"{header: true}":  "",
		"{header: 1}":     "s.yaml:1:10: header: is 1, must be true or false",
		"{headers: true}": "s.yaml:1:2: headers: is an unknown key, must be one of delimiter, header; did you mean header?",
		"[a]":             "s.yaml:1:1: is a list of 1 item, must be a path that is not empty or a mapping with keys of delimiter, header",
	} {
		got := ""
		if err := Join(check(parsed(t, text), s)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestInfiniteIsRefused: a plain float64 without bounds takes every finite number and no infinite one.
func TestInfiniteIsRefused(t *testing.T) {
	s, err := Of(struct {
		A float64 `yaml:"a"`
	}{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"1.7976931348623157e308": 0, "-1e-320": 0, ".inf": 1, "-.inf": 1, "inf": 1} {
		if ps := check(parsed(t, "a: "+text), s); len(ps) != want {
			t.Errorf("%s: %d problems, want %d", text, len(ps), want)
		}
	}
}
