package schema

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the messages of testdata/bad anew; read the diff before committing")

func checkFile(t *testing.T, s *Schema, path string) []Problem {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d, ps := Parse(filepath.Base(path), data)
	if d != nil {
		ps = append(ps, check(d, s)...)
	}
	return ps
}

func TestGoodCorpus(t *testing.T) {
	s := specSchema(t)
	files, _ := filepath.Glob("testdata/good/*.yaml")
	if len(files) < 5 {
		t.Fatalf("%d good files, want at least 5", len(files))
	}
	for _, f := range files {
		if err := Join(checkFile(t, s, f)); err != nil {
			t.Errorf("%s", err)
		}
	}
}

// TestBadCorpus compares all messages of each bad file with the text beside it. The texts are what the code
// said under -update, read line by line against the file: they hold the wording, and are no independent source.
func TestBadCorpus(t *testing.T) {
	s := specSchema(t)
	files, _ := filepath.Glob("testdata/bad/*.yaml")
	if len(files) < 20 {
		t.Fatalf("%d bad files, want at least 20", len(files))
	}
	for _, f := range files {
		err := Join(checkFile(t, s, f))
		if err == nil {
			t.Errorf("%s: no problem was found", f)
			continue
		}
		text := strings.TrimSuffix(f, ".yaml") + ".txt"
		if *update {
			if err := os.WriteFile(text, []byte(err.Error()+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, _ := os.ReadFile(text)
		if diff := cmp.Diff(string(want), err.Error()+"\n"); diff != "" {
			t.Errorf("%s:\n%s", f, diff)
		}
	}
}

// check holds a whole document to a schema.
func check(d *Document, s *Schema) []Problem { return d.check(d.root, "", s) }

// TestWordsOfDraft7: what both published schemas say is said in words that draft 7 has, by which documents are checked;
// it would take no notice of others, such as prefixItems.
func TestWordsOfDraft7(t *testing.T) {
	for _, file := range []string{"pipeline.schema.json", "domain.schema.json"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		if words := foreign(doc); len(words) > 0 {
			t.Errorf("%s: %q are no words that draft 7 knows", file, words)
		}
	}
}

// foreign returns the words of a schema that the check of documents would skip.
func foreign(v any) (words []string) {
	known := strings.Fields(`$schema title description default examples type enum const format pattern minLength maxLength
		minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems required x-unit minProperties`)
	o, _ := v.(map[string]any)
	for word, value := range o {
		switch word {
		case "properties":
			for _, p := range value.(map[string]any) {
				words = append(words, foreign(p)...)
			}
		case "items", "additionalProperties", "if", "then":
			words = append(words, foreign(value)...)
		case "anyOf", "allOf", "oneOf":
			for _, p := range value.([]any) {
				words = append(words, foreign(p)...)
			}
		default:
			if !slices.Contains(known, word) {
				words = append(words, word)
			}
		}
	}
	return words
}
