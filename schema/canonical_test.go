package schema

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

func TestCanonical(t *testing.T) {
	d := parsed(t, smallSpec)
	spec := newTestSpec()
	if ps := d.Decode("", spec); len(ps) > 0 {
		t.Fatal(Join(ps))
	}
	got, err := Canonical(spec)
	if err != nil {
		t.Fatal(err)
	}
	want := `weir: 1
name: t
dataset:
  csv:
    delimiter: ;
    header: true
  rows_public: 70000
  missing: ["1.0", '?', "yes", "2020-01-01"]
privacy:
  epsilon: inf
  delta: 1e-05
  adjacency: add_remove
  accountant: pld
seed: 0
stages:
  z:
    kind: impute_knn
    from: [a]
    neighbors: 16
  a:
    kind: bounds
    columns: [x.y, w]
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	roundTrip(t, spec)
}

// TestCanonicalIgnoresSpelling: comments, key order and spelling of numbers do not change the bytes.
func TestCanonicalIgnoresSpelling(t *testing.T) {
	texts := []string{"weir: 1\nname: t\nprivacy: {epsilon: 1, delta: 1e-5, adjacency: add_remove}\n",
		"privacy: {adjacency: \"add_remove\", epsilon: 1.0} # one\nname: 't'\nweir: 0x1\nseed: -0\n"}
	var first string
	for i, text := range texts {
		spec := newTestSpec()
		if ps := parsed(t, text).Decode("", spec); len(ps) > 0 {
			t.Fatal(Join(ps))
		}
		b, err := Canonical(spec)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && string(b) != first {
			t.Errorf("got\n%s\nwant\n%s", b, first)
		}
		first = string(b)
	}
}

// TestCanonicalTextComesBack: text that YAML could take for something else stays text.
func TestCanonicalTextComesBack(t *testing.T) {
	words := []string{"", " ", "yes", "no", "~", "null", "1", "1e5", "014", "0x1f", ".nan", ".inf", "inf", "a: b", "#x",
		"a #b", "- a", "[", "{",
		"*a", "&a", "!a", "%a", "@a", "`a", "'", "\"", "\n", "a\nb\n", "\t", "\r\n", "\x00", "\u0085", "\u2028", "\ufeff",
		"<<", "=", "2020-01-01",
		"true", "é", "日本", "🎈", "---", "...", "a\\b", strings.Repeat("long ", 100), "?", ":", "a:", "|", ">", "1:30", "1_000"}
	in := map[string][]string{}
	for _, w := range words {
		in[w] = []string{w}
	}
	b, err := Canonical(in)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string][]string
	d, ps := Parse("c.yaml", b)
	if len(ps) > 0 {
		t.Fatalf("%v\n%s", Join(ps), b)
	}
	if ps := d.Decode("", &out); len(ps) > 0 {
		t.Fatalf("%v\n%s", Join(ps), b)
	}
	if diff := cmp.Diff(in, out); diff != "" {
		t.Error(diff)
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for _, v := range []any{math.NaN(), math.Inf(-1), "\xff", make(chan int), map[int]int{1: 1}, Merged{testCommon{}, 3},
		Merged{map[string]int{"a": 1}, map[string]int{"a": 2}}} {
		if b, err := Canonical(v); err == nil {
			t.Errorf("%v: rendered as %s", v, b)
		}
	}
}

func TestCanonicalMerged(t *testing.T) {
	b, err := Canonical(Ordered[Merged]{{"b", Merged{map[string]string{"kind": "bounds"}, testBounds{Outside: "clip"}}},
		{"a", nil}})
	if err != nil {
		t.Fatal(err)
	}
	if want := "b:\n  kind: bounds\n  outside: clip\na: {}\n"; string(b) != want {
		t.Errorf("got\n%s", b)
	}
}

func TestFloatJSON(t *testing.T) {
	for text, want := range map[string]float64{`"inf"`: math.Inf(1), `0.5`: 0.5} {
		var f Float
		if err := json.Unmarshal([]byte(text), &f); err != nil || float64(f) != want {
			t.Errorf("%s: %v, %v", text, f, err)
		}
		if b, err := json.Marshal(f); err != nil || string(b) != text {
			t.Errorf("%s: written as %s, %v", text, b, err)
		}
	}
	for _, text := range []string{"-.inf", ".nan", "text", "[1]", "~"} {
		var f Float
		if err := yaml.Unmarshal([]byte("f: "+text), &struct{ F *Float }{&f}); err == nil && text != "~" {
			t.Errorf("%s: read as %v", text, f)
		}
	}
}

func TestSuggest(t *testing.T) {
	accepted := []string{"noise_multiplier", "max_grad_norm", "steps", "file", "pld", "rdp"}
	for word, want := range map[string]string{"noise_multipler": "noise_multiplier", "max_grad_nrom": "max_grad_norm",
		"step": "steps",
		"flie": "file", "PLD": "pld", "sigma": "", "": "", "x": "", "steps": "", strings.Repeat("steps", 1000): ""} {
		if got := Suggest(word, accepted); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}

func TestProblemJSON(t *testing.T) {
	b, err := json.Marshal(Problem{"f.yaml", 3, 4, "a.b", "1", "2", "h", "W03"})
	want := `{"file":"f.yaml","line":3,"column":4,"path":"a.b","found":"1","accepted":"2","hint":"h","rule":"W03"}`
	if err != nil || string(b) != want {
		t.Errorf("%s, %v", b, err)
	}
}

func TestPathComesBack(t *testing.T) {
	for path, parts := range map[string][]any{"a.b[2].c": {"a", "b", 2, "c"}, `"a.b"."c d"`: {"a.b", "c d"},
		`x."".y`: {"x", "", "y"}, `"\"["`: {`"[`}} {
		if got := Path(parts...); got != path {
			t.Errorf("%v: %s, want %s", parts, got, path)
		}
		if got, err := splitPath(path); err != nil || !cmp.Equal(got, parts) {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
}

func BenchmarkParseCheckDecode(b *testing.B) {
	s := specSchema(b)
	for b.Loop() {
		d, _ := Parse("s.yaml", []byte(smallSpec))
		if ps := append(check(d, s), d.Decode("", newTestSpec())...); len(ps) > 0 {
			b.Fatal(Join(ps))
		}
	}
}

func BenchmarkOf(b *testing.B) {
	for b.Loop() {
		if _, err := Of(newTestSpec()); err != nil {
			b.Fatal(err)
		}
	}
}

// TestQuestionsStandBeforeLongLists: behind fifty kinds nobody reads which one may be meant; behind three one does.
func TestQuestionsStandBeforeLongLists(t *testing.T) {
	names := strings.Repeat("kind, ", 20) + "kind"
	p := Problem{Path: "kind", Found: `"kinds"`, Accepted: "one of " + names, Hint: DidYouMean("kinds", []string{"kind"})}
	if want := `kind: is "kinds"; did you mean kind? It must be one of ` + names; p.Error() != want {
		t.Errorf("%s, must be %s", p.Error(), want)
	}
	p.Accepted = "one of kind, sort"
	if want := `kind: is "kinds", must be one of kind, sort; did you mean kind?`; p.Error() != want {
		t.Errorf("%s, must be %s", p.Error(), want)
	}
}
