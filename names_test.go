package weir_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"weir/runtime/source"
	"weir/runtime/table"
	"weir/schema"
	"weir/stages"
)

// homonyms returns strings outside stages that spell the name of a kind and mean something else,
// and the one kind that is named, each with its reason.
func homonyms() map[string]string {
	return map[string]string{
		"record/planned.go: sample": "the kind: a saved plan, which this reads, names kinds and " +
			"declares nothing",
		"record/report/scatter.go: projection":          "the file of a picture",
		"cmd/weir/sample.go: sample":                    "the command, and the way to choose a category",
		"cmd/weir/report.go: report":                    "a key of JSON",
		"cmd/weir/ledger.go: filter":                    "the filter of a budget",
		"pipeline/words/settings.go: split":             "privacy.split",
		"pipeline/domain/rule.go: constraints":          "a key of a domain",
		"runtime/codebook/frictionless.go: constraints": "a key of a Table Schema",
		"runtime/codebook/sdv.go: constraints":          "a key of metadata",
		"runtime/codebook/import.go: values":            "a key of a dictionary",
		"pipeline/domain/domain.go: bounds":             "a key of a domain",
		"cmd/weir/result.go: report":                    "what stands before its path",
		"pipeline/figure.go: independent":               "a role, which rows of that kind or simulated ones have",
	}
}

// TestNoKindIsNamedOutsideStages: whoever reads figures, plans and records goes by what a kind
// declares of itself (pipeline.Kind), so that a new kind needs no word of theirs. No string there
// is the name of a kind or of a figure that is no English word, and none holds the name of a figure
// that no prose has. Advice to a person, a sentence, may name a kind to use.
func TestNoKindIsNamedOutsideStages(t *testing.T) {
	names, figures := namesOfStages(t)
	unused := homonyms()
	for _, room := range []string{"record", "cmd/weir", "runtime", "pipeline"} {
		eachString(t, room, func(file, text string) {
			path := file + ": " + text
			delete(unused, path)
			if names[text] && homonyms()[path] == "" {
				t.Errorf("%s is a name of stages", path)
			}
			if name := figures.FindString(text); name != "" {
				t.Errorf("%s: %q has the name of the figure %s", file, text, name)
			}
		})
	}
	for at := range unused {
		t.Errorf("%s is listed and stands nowhere", at)
	}
}

// TestNoSourceIsNamedOutsideItsRoom: plans, ledgers, records and commands go by what a source declares
// (pipeline.Declared), so that a new one needs no word of theirs. No string there is the path of a setting of a source,
// or its key where that is no English word.
func TestNoSourceIsNamedOutsideItsRoom(t *testing.T) {
	names := map[string]bool{"demo": true}
	for _, kind := range source.Kinds() {
		shape, err := schema.Of(kind.New())
		if err != nil {
			t.Fatal(err)
		}
		for _, setting := range shape.Settings() {
			names["dataset."+setting.Path] = true
			names[setting.Path] = names[setting.Path] || strings.Contains(setting.Path, "_")
		}
	}
	for _, room := range []string{"record", "cmd/weir", "runtime", "pipeline", "stages"} {
		eachString(t, room, func(file, text string) {
			if names[text] && !strings.HasPrefix(file, "runtime/source/") {
				t.Errorf("%s: %q is a setting of a source", file, text)
			}
		})
	}
}

// listings returns strings outside runtime/table that spell a format of tables and mean something else, each with its
// reason.
func listings() map[string]string {
	return map[string]string{
		"cmd/weir/result.go: .csv":                  "noisy counts that a kind lists for people",
		"cmd/weir/docgen/take.go: .csv":             "what specs of papers gave, as the repository keeps it",
		"cmd/weir/docgen/results.go: .csv":          "what specs of papers gave, as the repository keeps it",
		"runtime/store/cache.go: .arrow":            "what a run stores for itself",
		"internal/soak/spec.go: csv":                "a setting of datasets",
		"runtime/database/duckdb/table.go: csv":     "what another program reads by itself",
		"runtime/database/duckdb/table.go: parquet": "what another program reads by itself",
		"runtime/database/spark/facts.go: parquet":  "what another program reads by itself",
	}
}

// TestNoFormatIsNamedOutsideItsRoom: whoever reads or writes a table goes by what a format says of itself, so that a
// new one needs no word of theirs. No string outside runtime/table is the name or the ending of one.
func TestNoFormatIsNamedOutsideItsRoom(t *testing.T) {
	names, unused := map[string]bool{"arrow": true}, listings()
	for _, w := range table.Writers() {
		names[w.Name()] = true
		for _, ending := range w.Endings() {
			names[ending] = true
		}
	}
	if len(names) < 6 {
		t.Fatalf("only %d names of formats are known", len(names))
	}
	for _, room := range []string{"record", "cmd/weir", "runtime", "pipeline", "stages", "internal"} {
		eachString(t, room, func(file, text string) {
			path := file + ": " + text
			delete(unused, path)
			if names[text] && !strings.HasPrefix(file, "runtime/table/") && listings()[path] == "" {
				t.Errorf("%s is a format of tables", path)
			}
		})
	}
	for at := range unused {
		t.Errorf("%s is listed and stands nowhere", at)
	}
}

// namesOfStages returns the names of kinds, and of figures that are no English words, and a pattern of
// the names of figures with an underscore.
func namesOfStages(t *testing.T) (names map[string]bool, figures *regexp.Regexp) {
	t.Helper()
	names = map[string]bool{}
	var long []string
	for _, k := range stages.Kinds() {
		names[k.Name] = true
		for _, f := range k.Figures {
			if strings.Contains(f.Name, "_") {
				long = append(long, regexp.QuoteMeta(f.Name))
			}
			names[f.Name] = true
		}
	}
	// ports, colours, axes
	for _, word := range []string{"real", "synthetic", "rows", "difference", "recall", "precision"} {
		delete(names, word)
	}
	if len(names) < 100 || len(long) < 100 {
		t.Fatalf("%d names, %d of figures, are too few to find any", len(names), len(long))
	}
	return names, regexp.MustCompile(`\b(` + strings.Join(long, "|") + `)\b`)
}

// eachString visits the strings of a room that are neither tests, import paths nor tags of fields.
func eachString(t *testing.T, room string, visit func(file, text string)) {
	t.Helper()
	err := filepath.WalkDir(room, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "testdata" || d.Name() == "pipelinetest" || d.Name() == "template") {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.Field:
				n.Tag = nil
			case *ast.BasicLit:
				if n.Kind == token.STRING {
					text, err := strconv.Unquote(n.Value)
					if err != nil {
						t.Error(err)
					}
					visit(filepath.ToSlash(path), text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
