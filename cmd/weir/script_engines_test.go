package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestEngineScripts runs testdata/engines/*.txtar, which need a PostgreSQL server, a Spark cluster and DuckDB at once.
// Each has what clinic.setup makes, the same schema in Spark with the connection CLUSTER, and the commands sql and load
// of the server's owner, cluster of Spark's client, and alike, which compares two releases.
func TestEngineScripts(t *testing.T) {
	server, spark := clinicOf(t), clusterOf(t)
	_, err := exec.LookPath("duckdb")
	if server == nil || spark == nil || err != nil {
		t.Skip("needs PostgreSQL, DuckDB and Spark: run .ci/spark .ci/postgres .ci/duckdb go test -run TestEngineScripts " +
			"./cmd/weir")
	}
	scripts, err := filepath.Abs("testdata/engines")
	if err != nil {
		t.Fatal(err)
	}
	var program inProcess
	t.Run("scripts", func(t *testing.T) { // ends when the scripts have ended, which Spark's client outlives
		testscript.Run(t, testscript.Params{
			Dir:                scripts,
			RequireUniqueNames: true,
			Setup: func(env *testscript.Env) error {
				if err := server.setup(env); err != nil {
					return err
				}
				return spark.setup(env)
			},
			Cmds: map[string]func(*testscript.TestScript, bool, []string){
				"weir": program.command, "exits": program.exits, "edit": edit, "take": take, "sql": server.sql, "load": server.load,
				"cluster": spark.sql, "alike": sameRelease,
			},
		})
	})
}

// sameRelease carries out the command `alike RUN RUN`: both releases must have the same files with the same bytes, and
// with `! alike` some file must differ. What is made for readers names spec and run, and may say where the rows lie:
// lines that do are compared without it.
func sameRelease(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: alike RUN RUN")
	}
	a, b := releaseIn(ts, args[0]), releaseIn(ts, args[1])
	names, differ := slices.Sorted(maps.Keys(a)), ""
	if others := slices.Sorted(maps.Keys(b)); !slices.Equal(names, others) || len(names) < 9 {
		ts.Fatalf("released are %q and %q, must be the same files, of which there are 9 or more", names, others)
	}
	for _, name := range names {
		if a[name] != b[name] {
			differ += name + " differs:\n" + firstDifference(a[name], b[name]) + "\n"
		}
	}
	if neg != (differ != "") {
		ts.Fatalf("must be the same: %t\n%s", !neg, differ)
	}
}

// releaseIn returns the files of a release.
func releaseIn(ts *testscript.TestScript, run string) map[string]string {
	folder := filepath.Join(ts.MkAbs(run), "release")
	entries, err := os.ReadDir(folder)
	ts.Check(err)
	files := map[string]string{}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		ts.Check(err)
		files[entry.Name()] = string(text)
		if slices.Contains([]string{"BILL.txt", "PRIVACY.md", "DATASHEET.md"}, entry.Name()) {
			files[entry.Name()] = withoutPlace(string(text), filepath.Base(run))
		}
	}
	return files
}

// withoutPlace takes the run, digests of the spec and of documents, and where rows lie out of a document.
func withoutPlace(text, run string) string {
	text = strings.ReplaceAll(text, run, "RUN")
	text = regexp.MustCompile(`(?m)^ROWS .*\n(?:  .*\n)*\n?`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`(?s)\n## Where the rows stayed\n.*?(\n## )`).ReplaceAllString(text, "$1")
	text = regexp.MustCompile(` Its rows stayed in [^;]+; .PRIVACY\.md. says what left\.`).ReplaceAllString(text, "")
	text = regexp.MustCompile("(?m)(^stays  |^- spec |digest |^- `(?:BILL.txt|DATASHEET.md)` \\()sha256:[0-9a-f]{64}").
		ReplaceAllString(text, "${1}DIGEST")
	text = regexp.MustCompile(`(?m)^(STAGE|dataset|some|clean|train|sample) .*`).ReplaceAllStringFunc(text,
		func(line string) string {
			line = regexp.MustCompile(`^(dataset +).*(  private )`).ReplaceAllString(line, "${1}PLACE$2")
			return regexp.MustCompile(` {2,}`).ReplaceAllString(line, "  ")
		})
	return text
}
