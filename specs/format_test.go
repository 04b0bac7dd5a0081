package specs_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"weir/internal/stattest"
	"weir/pipeline/spec"
	"weir/specs"
)

// shippedFiles lists all specs and domains that weir ships, built in and beside its examples.
func shippedFiles(t testing.TB) (files []string) {
	t.Helper()
	for _, pattern := range []string{"*.yaml", "../examples/*/*.yaml", "../runtime/infer/template/*.yaml",
		"../testdata/bits/*.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 70 {
		t.Fatalf("only %d files were found", len(files))
	}
	return files
}

func formatter(t testing.TB) *spec.Formatter {
	t.Helper()
	reg, err := kinds()
	if err != nil {
		t.Fatal(err)
	}
	f, err := spec.NewFormatter(reg)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestShippedFilesAreLaidOut as weir fmt lays them out.
func TestShippedFilesAreLaidOut(t *testing.T) {
	f := formatter(t)
	for _, file := range shippedFiles(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := f.Format(file, data); err != nil || !bytes.Equal(text, data) {
			t.Errorf("%s is not laid out as weir fmt -w lays it out: %v", file, err)
		}
	}
}

// TestFormatKeepsTheDigest: an embedded spec in another layout, as another program writes it, has the digest of the
// spec once it is laid out. An ordinary run takes every fourth.
func TestFormatKeepsTheDigest(t *testing.T) {
	f := formatter(t)
	for i, name := range specs.Names() {
		if !stattest.Long && i%4 > 0 {
			continue
		}
		text, _ := specs.Read(name)
		laidOut, err := f.Format(name, relaid(t, text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if a, b := canonicalOf(t, text), canonicalOf(t, laidOut); a != b {
			t.Errorf("%s: the canonical form has changed", name)
		}
	}
}

// relaid writes YAML with other indents, all mappings as blocks, and the settings of a spec in reverse, but for the
// stages and the experiment, whose order counts.
func relaid(t testing.TB, text []byte) []byte {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var turn func(n *yaml.Node)
	turn = func(n *yaml.Node) {
		if n.Kind != yaml.MappingNode {
			return
		}
		var pairs [][2]*yaml.Node
		for i := 0; i+1 < len(n.Content); i += 2 {
			if key := n.Content[i].Value; key != "stages" && key != "experiment" && key != "domain" {
				turn(n.Content[i+1])
			}
			pairs = append(pairs, [2]*yaml.Node{n.Content[i], n.Content[i+1]})
		}
		slices.Reverse(pairs)
		n.Content, n.Style = nil, 0
		for _, p := range pairs {
			n.Content = append(n.Content, p[0], p[1])
		}
	}
	turn(doc.Content[0])
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(7)
	if err := e.Encode(&doc); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func canonicalOf(t testing.TB, text []byte) string {
	t.Helper()
	reg, err := kinds()
	if err != nil {
		t.Fatal(err)
	}
	s, err := spec.Parse(spec.Input{File: "spec.yaml", Data: text, Read: os.ReadFile}, reg)
	if err != nil {
		t.Fatal(err)
	}
	form, err := s.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	return string(form)
}

// TestFormatKeepsWhatMutantsSay: whatever a changed spec says, what Format returns is read by a parser as the same
// values, has as many marks of comments, and stays as it is. Most of the mutants are YAML and are laid out.
func TestFormatKeepsWhatMutantsSay(t *testing.T) {
	f, r, laidOut := formatter(t), rand.New(rand.NewPCG(36, 0)), 0
	files := shippedFiles(t)
	mutants := 300
	if stattest.Long {
		mutants = 10000
	}
	for i := range mutants {
		data, err := os.ReadFile(files[i%len(files)])
		if err != nil {
			t.Fatal(err)
		}
		mutant := mutated(r, data)
		text, err := f.Format("x.yaml", mutant)
		if err != nil {
			continue
		}
		laidOut++
		var before, after any
		if yaml.Unmarshal(mutant, &before) != nil || yaml.Unmarshal(text, &after) != nil ||
			!reflect.DeepEqual(before, after) {
			t.Fatalf("%s\nis laid out as\n%s\nwhich says something else", mutant, text)
		}
		if a, b := bytes.Count(mutant, []byte("#")), bytes.Count(text, []byte("#")); a != b {
			t.Fatalf("%s\nis laid out as\n%s\n%d marks of comments have become %d", mutant, text, a, b)
		}
		if again, err := f.Format("x.yaml", text); err != nil || !bytes.Equal(again, text) {
			t.Fatalf("%s\nis laid out as\n%s\nand then as\n%s\n%v", mutant, text, again, err)
		}
	}
	if laidOut < mutants/3 {
		t.Errorf("only %d of %d mutants were laid out", laidOut, mutants)
	}
}

// mutated makes up to three changes: a line comes, goes, is indented, goes elsewhere or gets a comment, or a mark of
// YAML stands somewhere.
func mutated(r *rand.Rand, data []byte) []byte {
	const marks = "#'\"[]{}:,-|>?&*!% \t\n"
	lines := strings.Split(string(data), "\n")
	for range 1 + r.IntN(3) {
		i, j := r.IntN(len(lines)), r.IntN(len(lines))
		switch cut := r.IntN(len(lines[i]) + 1); r.IntN(8) {
		case 0:
			lines = slices.Delete(lines, i, i+1)
		case 1:
			lines = slices.Insert(lines, j, lines[i])
		case 2:
			lines[i], lines[j] = lines[j], lines[i]
		case 3:
			lines[i] = strings.Repeat(" ", r.IntN(5)) + strings.TrimLeft(lines[i], " ")
		case 4:
			lines[i] += " # " + lines[j]
		case 5:
			lines = slices.Insert(lines, i, strings.Repeat(" ", r.IntN(9))+"# "+strings.TrimLeft(lines[j], " "), "")
		case 6:
			broken := ",\n" + strings.Repeat(" ", 1+r.IntN(30)) + []string{"", "# c\n "}[r.IntN(2)]
			lines[i] = strings.Replace(lines[i], ", ", broken, 1)
		default:
			lines[i] = lines[i][:cut] + string(marks[r.IntN(len(marks))]) + lines[i][cut:]
		}
	}
	return []byte(strings.Join(lines, "\n"))
}
