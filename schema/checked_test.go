package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// TestRightValuesAreCheckedOnce: copies of a document with a memory decode as the document does, and hold to a schema
// only what differs.
func TestRightValuesAreCheckedOnce(t *testing.T) {
	known := &Checked{}
	first := parsed(t, smallSpec)
	first.Remember(known)
	decoded := func(d *Document) *testSpec {
		spec := newTestSpec()
		if ps := d.Decode("", spec); len(ps) > 0 {
			t.Error(Join(ps))
		}
		return spec
	}
	want := decoded(first.Clone())
	if got := decoded(first.Clone()); !cmp.Equal(got, want, cmp.AllowUnexported(Raw{}), cmp.Comparer(sameRaw)) ||
		known.Checks() != 1 {
		t.Errorf("%d checks of two equal documents, must be 1: %+v and %+v", known.Checks(), got, want)
	}
	other := first.Clone()
	if err := other.Set("privacy.delta", "0.25"); err != nil {
		t.Fatal(err)
	}
	if got := decoded(other); got.Privacy.Delta != 0.25 || known.Checks() != 2 {
		t.Errorf("%d checks, must be 2; delta is %g, must be 0.25", known.Checks(), got.Privacy.Delta)
	}
	if d := decoded(first.Clone()); d.Privacy.Delta != want.Privacy.Delta {
		t.Errorf("a copy of a document changes it: delta is %g", d.Privacy.Delta)
	}
}

// TestWrongValuesAreToldEachTime: what is wrong is told of every document that has it, at its place.
func TestWrongValuesAreToldEachTime(t *testing.T) {
	first := parsed(t, smallSpec)
	if err := first.Set("privacy.delta", "x"); err != nil {
		t.Fatal(err)
	}
	want := first.Clone().Decode("", newTestSpec())
	first.Remember(&Checked{})
	for range 2 {
		if got := first.Clone().Decode("", newTestSpec()); len(want) != 1 || !cmp.Equal(got, want) {
			t.Errorf("%v, must be %v", got, want)
		}
	}
}

// TestRightValuesAreRightForTheirTypesAlone: what is right for one type is held to the schema of another, beside which
// others stand too.
func TestRightValuesAreRightForTheirTypesAlone(t *testing.T) {
	type number struct {
		X int `yaml:"x"`
	}
	type word struct {
		X string `yaml:"x"`
	}
	type other struct {
		Y int `yaml:"y" required:"true"`
	}
	d := parsed(t, "x: 1\n")
	d.Remember(&Checked{})
	if ps := d.Decode("", &number{}); len(ps) > 0 {
		t.Error(Join(ps))
	}
	for _, dst := range [][]any{{&word{}}, {&number{}, &other{}}, {&word{}, &number{}}} {
		if ps := d.Decode("", dst...); len(ps) != 1 {
			t.Errorf("%v into %#v, must be one problem", ps, dst)
		}
	}
}

// TestFingerprintsTellValuesApart: no two of these values are equal, though words, tags, kinds or counts of most are.
func TestFingerprintsTellValuesApart(t *testing.T) {
	seen := map[string]string{}
	note := func(value, print string) {
		if other, is := seen[print]; is || print == "" {
			t.Errorf("%s has the fingerprint %q, which %q has too", value, print, other)
		}
		seen[print] = value
	}
	for _, value := range []string{"1", `"1"`, "1.0", "10", "true", `"true"`, "", `""`, "null", `"null"`, ".inf", `".inf"`,
		"-.inf", "[]", "{}", "[1]", "[1, 2]", "[2, 1]", "[12]", "{1: 2}", "{2: 1}", "[[1], 2]", "[[1, 2]]", "[[], 1]",
		"[a08!!str  b, c]", "[a, b08!!str  c]", "[a, b]", "[ab]", "{a: b}", "{a: {b: c}}", "{a: b, c: }"} {
		note(value, parsed(t, "v: "+value+"\n").Fingerprint("v"))
	}
	for _, n := range []yaml.Node{{Kind: yaml.ScalarNode, Value: "a"}, {Kind: yaml.AliasNode, Value: "a"},
		{Kind: yaml.SequenceNode}, {Kind: yaml.MappingNode}, {Kind: yaml.ScalarNode, Tag: "!!str", Value: "a"}} {
		var b strings.Builder
		fingerprint(&b, &n)
		note(fmt.Sprintf("%+v", n), b.String())
	}
}

func sameRaw(a, b Raw) bool { return a.Text() == b.Text() }
