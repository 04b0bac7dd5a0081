//go:build sarif

package main

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// TestSARIFMeetsTheSchema: what check prints of specs without an error, with warnings, accepted ones, faults of the
// form, of privacy and of the command line meets the schema of SARIF 2.1.0, which WEIR_SARIF_SCHEMA names (.ci/sarif);
// a result without its message does not.
func TestSARIFMeetsTheSchema(t *testing.T) {
	schema := sarifSchema(t)
	s := checked(t)
	s.write("large.yaml", strings.Replace(s.read("spec.yaml"), "{epsilon: 1,", "{epsilon: 40,", 1))
	s.write("form.yaml", strings.Replace(s.read("spec.yaml"), "kind: drop", "kind: dropp", 1))
	s.write("leaky.yaml", strings.Replace(s.read("spec.yaml"), "kind: impute_constant, numbers: {income: 50000}",
		"kind: impute_knn, scope: table, neighbors: 3", 1))
	for _, args := range [][]string{{"spec.yaml"}, {"large.yaml"}, {"form.yaml"}, {"leaky.yaml"},
		{"spec.yaml", "large.yaml", "form.yaml", "leaky.yaml"}} {
		for _, set := range [][]string{nil, {"--set", "seed=x"}, {"--strict"}} {
			line := append([]string{"check", "--format", "sarif"}, set...)
			for _, file := range args {
				line = append(line, s.path(file))
			}
			_, out, errs := s.weir(line...)
			if err := schema.Validate(decoded(t, out)); err != nil || errs != "" {
				t.Errorf("%v: %#v %s", line, err, errs)
			}
			if broken := strings.Replace(out, `"message": {`, `"massage": {`, 1); schema.Validate(decoded(t, broken)) == nil {
				t.Errorf("%v: a result without a message meets the schema", line)
			}
		}
	}
}

func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	file, err := os.Open(os.Getenv("WEIR_SARIF_SCHEMA"))
	if err != nil {
		t.Fatalf("WEIR_SARIF_SCHEMA must name the schema of SARIF 2.1.0, as .ci/sarif does: %v", err)
	}
	defer file.Close()
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	c.LoadURL = func(string) (io.ReadCloser, error) { return nil, os.ErrNotExist }
	if err := c.AddResource("sarif.json", file); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func decoded(t *testing.T, text string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return value
}
