package schema

import "testing"

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
