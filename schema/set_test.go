package schema

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestCopy: a value that is copied has its problems where it was written; null takes a
// setting out, and nothing is put into a scalar.
func TestCopy(t *testing.T) {
	type settings struct {
		Steps int   `yaml:"steps" doc:"Steps." min:"1"`
		Sizes []int `yaml:"sizes" doc:"Sizes." min:"1"`
	}
	type file struct {
		Train settings       `yaml:"train" doc:"Training."`
		With  map[string]Raw `yaml:"with" doc:"Values."`
	}
	text := "train: {steps: 3}\nwith:\n  none: ~\n  word: ten\n  list: [4, 0]\n  block:\n  - 5\n  - few\n"
	for _, c := range []struct{ to, from, want string }{
		{"train.steps", "with.word", "s.yaml:4:9: train.steps: is the text \"ten\", must be a whole number of at least 1"},
		{"train.sizes", "with.list", "s.yaml:5:13: train.sizes[1]: is 0, must be a whole number of at least 1"},
		{"train.sizes", "with.block",
			"s.yaml:8:5: train.sizes[1]: is the text \"few\", must be a whole number of at least 1"},
		{"train.steps", "with.block", "s.yaml:6:3: train.steps: is a list of 2 items, must be a whole number of at least 1"},
		{"train.step", "with.list", "s.yaml:5:9: train.step: is an unknown key, must be one of steps, sizes; did you mean " +
			"steps?"},
		{"train.steps.more", "with.word", "s.yaml:4:9: train.steps.more: is inside 3, must be a key inside a mapping"},
		{"train..x", "with.word", "s.yaml:4:9: train..x: is \"train..x\", must be a path such as privacy.epsilon"},
		{"train.steps", "with.none", ""},
	} {
		d, ps := Parse("s.yaml", []byte(text))
		if len(ps) > 0 {
			t.Fatal(ps)
		}
		var f file
		got := ""
		if err := d.Copy(c.to, c.from); err != nil {
			got = err.Error()
		} else if ps := d.Decode("", &f); len(ps) > 0 {
			got = Join(ps).Error()
		}
		if got != c.want {
			t.Errorf("%s from %s: %s, must be %s", c.to, c.from, got, c.want)
		}
		if c.from == "with.none" && d.Has("train.steps") {
			t.Error("null leaves the setting")
		}
	}
}

// TestRawText: scalars as they are written, the rest on one line.
func TestRawText(t *testing.T) {
	d, _ := Parse("s.yaml", []byte("a: 1.0\nb: \"x y\"\nc:\n- 1\n- [two, 3]\nd: {k: .5}\n"))
	var v Ordered[Raw]
	if ps := d.Decode("", &v); len(ps) > 0 {
		t.Fatal(ps)
	}
	var got []string
	for _, e := range v {
		got = append(got, e.Value.Text())
	}
	// What is compared as JSON has its values: without them two grids would be equal.
	if j, err := json.Marshal(v[2]); err != nil || string(j) != `{"Name":"c","Value":[1,["two",3]]}` {
		t.Errorf("as JSON %s, %v", j, err)
	}
	if want := `1.0|x y|[1,["two",3]]|{"k":0.5}`; strings.Join(got, "|") != want {
		t.Errorf("%s, must be %s", strings.Join(got, "|"), want)
	}
}

// FuzzCopy: whatever the paths, a document is left that can be read, and nothing panics.
func FuzzCopy(f *testing.F) {
	for _, path := range []string{"a.b", "a[0]", "a[1].c", `"x.y"`, "", "a..b", "w[2]", "a.b.c", "e.a"} {
		f.Add(path, "w")
		f.Add("a.b", path)
	}
	f.Fuzz(func(t *testing.T, newName, from string) {
		d, _ := Parse("s.yaml", []byte("a: {b: 1, c: ~}\nw: [1, {c: 2}]\ne:\n  a: x\n"))
		if err := d.Copy(newName, from); err == nil && d.Has(from) && newName == from && d.Text(newName) != d.Text(from) {
			t.Errorf("%q from itself is another value", newName)
		}
		var all Ordered[Raw]
		for _, p := range d.Decode("", &all) {
			if p.Line < 0 || p.File == "" {
				t.Errorf("a problem without a place: %v", p)
			}
		}
	})
}

func TestRemoveTakesAKeyOut(t *testing.T) {
	doc, problems := Parse("x", []byte("a: {b: 1, c: 2}\nl: [1]\n"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, path := range []string{"a.b", "a.b", "l[0]", "no.where", "", "a..b"} {
		doc.Remove(path)
	}
	if doc.Has("a.b") || !doc.Has("a.c") || !doc.Has("l[0]") {
		t.Errorf("keys of a: %v", doc.Keys("a"))
	}
}
