package schema

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/internal/stattest"
)

// hostile returns inputs that have cost other YAML readers minutes, gigabytes or their life.
func hostile() map[string][]byte {
	rep := func(s string, n int) []byte { return []byte(strings.Repeat(s, n)) }
	return map[string][]byte{
		"open lists":    rep("[", MaxBytes),
		"open mappings": rep("{", MaxBytes),
		"list in list":  rep("- ", MaxBytes/2),
		"complex keys":  rep("? ", MaxBytes/2),
		"key on key":    rep("a: ", MaxBytes/3),
		"anchors":       rep("- &a x\n", MaxBytes/7),
		"unknown keys":  numbered("k%: 1\n"),
		"long scalar":   append([]byte("weir: "), rep("x", MaxBytes-6)...),
		"long number":   append([]byte("weir: "), rep("9", MaxBytes-6)...),
		"long exponent": []byte("weir: 1e999999999\nseed: 1e-999999999\n"),
		"repeats": append([]byte("stages: {a: {kind: bounds, columns: ["), append(rep("a,", MaxBytes/2-50),
			"]}}"...)...),
		"distinct": append([]byte("stages: {a: {kind: bounds, columns: ["), append(numbered("c%,")[:MaxBytes/2],
			"]}}"...)...),
		"quotes":          rep("\"", MaxBytes),
		"comments":        rep("#\n", MaxBytes/2),
		"blank lines":     rep("\n", MaxBytes),
		"documents":       rep("---\n", MaxBytes/4),
		"stages":          append([]byte("stages:\n"), numbered("  s%: {kind: bounds, outside: x}\n")...),
		"percent":         rep("%", MaxBytes),
		"tags":            rep("!a ", MaxBytes/3),
		"block scalars":   rep("|\n ", MaxBytes/3),
		"flow pairs":      append([]byte("["), append(rep("a: b,", MaxBytes/5-2), ']')...),
		"deep indent":     deepIndent(),
		"alias of itself": []byte("a: &a [*a]\n"),
	}
}

func numbered(pattern string) []byte {
	var b bytes.Buffer
	for i := 0; ; i++ {
		line := strings.ReplaceAll(pattern, "%", strings.Repeat("x", i%7)+string(rune('a'+i%26))+itoa(i))
		if b.Len()+len(line) > MaxBytes-100 {
			return b.Bytes()
		}
		b.WriteString(line)
	}
}

func itoa(i int) string {
	s := ""
	for ; i > 0; i /= 10 {
		s = string(rune('0'+i%10)) + s
	}
	return s
}

func deepIndent() []byte {
	var b bytes.Buffer
	for i := 0; b.Len()+i+3 < MaxBytes; i++ {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.Bytes()
}

// TestHostileInput: every input is answered with at least one and at most maxProblems+1 problems, within
// 1 GiB of allocation in all (a bomb of nine levels would need 9^9 nodes).
func TestHostileInput(t *testing.T) {
	s := specSchema(t)
	for name, data := range hostile() {
		if !stattest.Long && (name == "stages" || name == "flow pairs") {
			continue // as long as all others; unknown keys and repeats are of their kind
		}
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			d, ps := Parse("bad.yaml", data)
			if d != nil {
				ps = append(ps, check(d, s)...)
			}
			runtime.ReadMemStats(&after)
			if len(ps) == 0 || len(ps) > 2*(maxProblems+1) {
				t.Errorf("%d problems", len(ps))
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 1<<30 {
				t.Errorf("allocates %d MiB", used>>20)
			}
			for _, p := range ps {
				if len(p.Error()) > 1500 {
					t.Errorf("a message of %d bytes", len(p.Error()))
				}
			}
		})
	}
}

// TestTooLarge: 100 MB are refused by their length alone; parsing would allocate.
func TestTooLarge(t *testing.T) {
	data := bytes.Repeat([]byte("a: b\n"), 20_000_000)
	allocs := testing.AllocsPerRun(1, func() {
		d, ps := Parse("big.yaml", data)
		want := "big.yaml:1:1: is longer than 1048576 bytes, must be YAML of at most 1048576 bytes (1 MiB)"
		if d != nil || len(ps) != 1 || ps[0].Error() != want {
			t.Errorf("got %v, want %s", ps, want)
		}
	})
	if allocs > 20 {
		t.Errorf("%v allocations, want at most 20", allocs)
	}
}

// TestTableForASpec: who gives the data where a spec belongs is told so, and not the
// length of the part that was read.
func TestTableForASpec(t *testing.T) {
	for name, line := range map[string]string{"commas": "7771,m,3\n", "semicolons": "7771;m\n", "tabs": "7771\tm\n",
		"Parquet": "PAR1\x00\x00", "gzip": "\x1f\x8b\x08"} {
		data := bytes.Repeat([]byte(line), MaxBytes)[:MaxBytes+1]
		_, ps := Parse("t.csv", data)
		want := "t.csv:1:1: is longer than 1048576 bytes and looks like a table, must be YAML of at most 1048576 bytes (1 " +
			"MiB)"
		if len(ps) != 1 || ps[0].Error() != want {
			t.Errorf("%s: %v, must be %s", name, ps, want)
		}
	}
}

func FuzzParseCheck(f *testing.F) {
	s := specSchema(f)
	for _, seed := range []string{"weir: 1\nname: t\nprivacy: {epsilon: 1, adjacency: add_remove}\n",
		"stages:\n  a: {kind: bounds, columns: [a]}\n", "a: &a [*a]\n", "? {a: b}\n: c\n", "~: .nan\n", "x: 0o17\n",
		"privacy:\n\tx: 1", "\xef\xbb\xbfweir: 1e0\r\n", "a: !!binary x\n", "--- |\n x\n...\n---\n", "<<: {a: 1}\n",
		"dataset: {privacy_unit: {column: a, max_rows: 1e999}, missing: [1, .inf, ~]}\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, ps := Parse("f.yaml", data)
		for _, p := range ps {
			if p.Line < 1 || p.Column < 1 || p.Error() == "" {
				t.Fatalf("no place: %#v", p)
			}
		}
		if d == nil {
			if len(ps) == 0 {
				t.Fatal("neither a document nor a problem")
			}
			return
		}
		checked := check(d, s)
		for _, p := range checked {
			if p.Line < 1 || p.Column < 1 || p.Accepted == "" {
				t.Fatalf("no place or rule: %#v", p)
			}
		}
		spec := newTestSpec()
		decoded := d.Decode("", spec)
		if len(ps)+len(checked) == 0 && len(decoded) > 0 {
			t.Fatalf("checked but not decoded: %v", Join(decoded))
		}
		if len(ps)+len(decoded) == 0 {
			roundTrip(t, spec)
		}
	})
}

// roundTrip: what Canonical writes decodes to the same canonical bytes.
func roundTrip(t *testing.T, spec *testSpec) {
	t.Helper()
	first, err := Canonical(spec)
	if err != nil {
		t.Fatal(err)
	}
	d, ps := Parse("canonical.yaml", first)
	if len(ps) > 0 {
		t.Fatalf("%v\n%s", Join(ps), first)
	}
	again := newTestSpec()
	if ps := d.Decode("", again); len(ps) > 0 {
		t.Fatalf("%v\n%s", Join(ps), first)
	}
	second, err := Canonical(again)
	if err != nil || !bytes.Equal(first, second) {
		t.Fatalf("%v\n%s\n%s", err, first, second)
	}
}

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
// it would take no notice of others, such as prefixItems. References and $id are of the published form alone, and
// enumDescriptions is for editors.
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
	known := strings.Fields(`$schema $id enumDescriptions title description default examples type enum const format
		pattern minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems
		required x-unit minProperties`)
	o, _ := v.(map[string]any)
	for word, value := range o {
		switch word {
		case "$ref":
		case "properties", "$defs":
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

func TestMain(m *testing.M) { stattest.Sparing(m, 400) }
