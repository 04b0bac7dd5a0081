// Package weir_test holds the policy of imports: which room may use which.
package weir_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	pathpkg "path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// bitmath is arithmetic that knows nothing of ours.
const bitmath = "internal/bitmath"

// allowed returns the table of rooms: a room and the rooms of ours that it may import.
// A folder belongs to the innermost room that it lies in. A room inside another is
// closed to all that do not name it, those who may import the outer one included
// (docs/design.md section 1).
func allowed() map[string][]string {
	return map[string][]string{
		"schema":  {},
		"privacy": {},
		// A ledger is a file, the one thing below privacy that is.
		"privacy/ledger": {"privacy", "internal/disk"},
		// Whatever runs and ledgers change on disk goes through one room, so that a test
		// can let each change fail.
		"internal/disk": {},
		// What can be shown to a person as it is: a property of text, needed wherever words are made.
		"internal/plaintext": {},
		// Functions of numbers, as package math has them but with equal bits on every machine:
		// open to all rooms, as package math is (docs/design/bits.md).
		bitmath: {},
		"train": {"privacy"},
		// Models of noisy marginals are post-processing: they cannot reach noise, and reach
		// nothing private.
		"train/graphical": {"train"},
		// What is estimated from noisy histograms sees released numbers alone: no handle, no
		// noise, no row.
		"train/histogram": {},
		// What is publicly known of a table is judged alike for specs, codebooks and models of
		// strangers, so it knows none of them.
		"pipeline/domain": {"schema", "internal/plaintext"},
		// What stages compute, as data, is stated by them and carried out by whoever holds the rows: it knows neither.
		"pipeline/relation": {},
		// pipeline is the contract of stages; it knows nothing of specs and plans, so
		// that a stage is the same function of its headers whoever runs it.
		"pipeline": {"pipeline/domain", "pipeline/relation", "schema", "privacy"},
		// Reading knows no compiler: a spec is judged for what it says before anything
		// is made of it. It holds the table of audit rules, since a spec names them by number.
		"pipeline/spec": {"pipeline", "pipeline/domain", "schema", "privacy", "internal/plaintext"},
		// bill alone prices mechanisms. No stage may import it, else one could price itself. It sees what stages spend, and
		// neither how they are linked nor what they read.
		"pipeline/bill": {"pipeline", "pipeline/spec", "privacy"},
		// compile plans. No stage may import it, else one could plan itself.
		"pipeline/compile": {"pipeline", "pipeline/bill", "pipeline/domain", "pipeline/relation", "pipeline/spec", "schema",
			"privacy"},
		// words sees plans as data, and text and numbers that may be of another version of weir: it compiles
		// nothing, sees no work of a plan and reads neither records nor ledgers, so that it says only what it was given.
		"pipeline/words": {"pipeline", "pipeline/spec", "schema", "privacy", "internal/plaintext"},
		// It sees what goes into mechanisms before noise, so whoever releases anything must not have it: tests and audits do.
		"pipeline/neighbour": {"pipeline", "pipeline/domain", "pipeline/compile", "privacy"},
		// The conformance test pays by the prices of bills and makes noise of its own,
		// so only tests and the soak may have it. internal/stattest tells it how much an ordinary
		// run of the tests does.
		"pipeline/pipelinetest": {"pipeline", "pipeline/bill", "pipeline/domain", "pipeline/neighbour", "pipeline/relation",
			"pipeline/compile", "schema", "privacy", "internal"},
		"record": {"privacy", "internal/plaintext"},
		// The page judges figures by what their kinds declare, as the plan has it; it sees no
		// spec, no work and no row.
		"record/report": {"pipeline", "privacy", "record", "internal/plaintext"},
		// A list of runs is worded from what the list is of: it reads no folder and has no clock.
		"record/listing": {"record", "record/report", "internal/plaintext"},
		"stages": {"pipeline", "pipeline/domain", "pipeline/relation", "train", "train/graphical", "train/histogram",
			"privacy", "schema", "record", "record/report", "internal/plaintext"},
		"runtime": {"runtime/database/sql", "pipeline", "pipeline/domain", "pipeline/relation", "pipeline/spec",
			"pipeline/compile", "pipeline/words", "privacy", "privacy/ledger", "record", "record/listing", "schema",
			"internal/disk", "internal/plaintext"},
		// What was spent is told from ledgers, records and releases: it sees no spec, no plan at work and no row.
		"runtime/auditreport": {"pipeline/words", "privacy", "privacy/ledger", "record", "record/report", "runtime",
			"internal/disk", "internal/plaintext"},
		// An experiment is several runs, their bill and their table: above the engine, which knows runs alone.
		"runtime/experiment": {"pipeline", "pipeline/domain", "pipeline/spec", "pipeline/compile", "privacy", "record",
			"record/report", "runtime", "internal/disk", "internal/plaintext"},
		// A rehearsal gives whoever asks for it what a run would release, for no charge: only the command line, which shows
		// it to the owner, and tests may.
		"runtime/audit": {"pipeline", "pipeline/domain", "pipeline/compile", "pipeline/neighbour", "pipeline/words",
			"privacy", "record", "runtime",
			"internal/disk"},
		// SQL is text: who prints it knows what is computed, and neither the plan, the table nor the process it goes to.
		"runtime/database/sql": {"pipeline/relation"},
		"specs":                {},
		"examples":             {},
		// Pages are text: they know no program.
		"docs":     {},
		"internal": {"schema", "privacy", "train", "pipeline", "pipeline/domain", "pipeline/relation", "record"},
		"cmd": {"schema", "privacy", "train", "pipeline", "pipeline/domain", "pipeline/spec", "pipeline/compile",
			"pipeline/words",
			"privacy/ledger", "record", "record/listing", "record/report", "stages", "runtime", "runtime/audit",
			"runtime/experiment", "runtime/auditreport", "specs", "docs", "internal/disk", "internal/plaintext"},
		"internal/soak": {"schema", "privacy", "train", "pipeline", "pipeline/domain", "pipeline/spec", "pipeline/compile",
			"pipeline/words",
			"pipeline/neighbour", "pipeline/pipelinetest", "privacy/ledger", "record", "stages", "runtime", "runtime/audit",
			"internal/disk"},
	}
}

// inTests lists what the tests of a room may import besides: the tests of stages and
// runtimes go from a spec to a plan.
func inTests() map[string][]string {
	return map[string][]string{
		"stages": {"pipeline/bill", "pipeline/spec", "pipeline/compile", "pipeline/neighbour", "pipeline/pipelinetest",
			"runtime/database/sql"},
		"runtime":              {"pipeline/pipelinetest"},
		"runtime/audit":        {"pipeline/spec"},
		"runtime/database/sql": {"pipeline/pipelinetest"},
		"specs": {"pipeline", "pipeline/spec", "pipeline/compile", "pipeline/words", "privacy", "runtime",
			"runtime/audit", "runtime/experiment", "stages"},
	}
}

// roomOf returns the innermost room of a path; its first folder where it is in none.
func roomOf(path string) string {
	for at := path; at != "."; at = pathpkg.Dir(at) {
		if _, known := allowed()[at]; known {
			return at
		}
	}
	first, _, _ := strings.Cut(path, "/")
	return first
}

// runtimeRooms says which of its own folders a folder of runtime may import, so that a
// signature tells what a function can touch; those that name "" are above runtime itself.
func runtimeRooms() map[string][]string {
	return map[string][]string{
		// bytes on disk: knows neither what they mean nor what they cost
		"store": {"table"},
		// file formats
		"table": {"table/internal/parquet"},
		// what names of a spec open, and whether it has changed
		"files": {"store", "table"},
		// where rows come from: knows no ledger, no owner and no run
		"source": {"table", "database/duckdb", "database/postgres", "database/spark", "database/sql"},
		// programs that read tables: starts them, and knows no domain, no ledger and no run
		"database": {"database/sql"},
		// the owner's side
		"dataset": {"store"},
		// one file of a release and a statement of it: opens no key but the signer's, no data and no ledger
		"bundle": {"store", "table"},
		// charges and noise: opens no table, so it never sees a row
		"payment": {"store", "dataset"},
		// what a study begins with: the draft of a domain, the first spec
		"infer": {"", "dataset", "files", "source", "store", "table"},
		// spending in words, and beside the budgets of a revision: runs git, which reads objects alone
		"review": {"", "payment", "dataset", "store"},
		// compares tables that a person names: draws no noise, charges nothing
		"evaluation": {"", "infer", "store"},
		// what publishers say of columns: opens no table
		"codebook": {},
		// removes by names, ages, ledgers and notes of what is paid for: opens no table and no key
		"collect": {"store", "payment"},
		// an auditor's view of ledgers and runs: reads what is public of them, opens no table and no key
		"auditreport": {"dataset", "store"},
		// several runs as one
		"experiment": {"", "payment", "table"},
		// runs that nobody else sees, on changed rows: charges no ledger of people
		"audit": {"", "files", "store", "table"},
		// text for version control, beside specs: sees plans and what data is, opens no table
		"lock": {""},
	}
}

// forbidden lists standard packages that a room must not touch: files, clock
// and randomness have rooms of their own.
func forbidden() map[string][]string {
	return map[string][]string{
		"schema":          {"os", "math/rand", "math/rand/v2", "crypto/rand"},
		"pipeline":        {"crypto/rand"},
		"record":          {"math/rand", "math/rand/v2", "crypto/rand"},
		"record/report":   {"math/rand", "math/rand/v2", "crypto/rand"},
		"train":           {"os", "math/rand", "crypto/rand"},
		"train/graphical": {"os", "time", "math/rand", "crypto/rand"},
		"stages":          {"math/rand", "crypto/rand"},
		"privacy":         {"math/rand", "crypto/rand"},
	}
}

// reachesOut reports whether a package leads out of the program, or around its types:
// in pipeline, record and stages nothing may, so that what a stage can
// touch is what it is given.
func reachesOut(room, name string) bool {
	outer, _, _ := strings.Cut(room, "/")
	for _, p := range []string{"os", "syscall", "unsafe", "plugin", "net", "io/ioutil", "golang.org/x/sys",
		"github.com/apache/arrow/go/v15/parquet"} {
		if contains([]string{"pipeline", "record", "stages"}, outer) && (name == p || strings.HasPrefix(name, p+"/")) {
			return true
		}
	}
	return false
}

func TestImportsKeepToTheirRooms(t *testing.T) {
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "runs" ||
			isModule(path)) {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".go") && strings.Contains(path, string(filepath.Separator)) {
			files++
			checkFile(t, filepath.ToSlash(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 50 {
		t.Errorf("only %d files were checked; is the test run from the root?", files)
	}
	for _, folders := range []map[string][]string{allowed(), inTests(), forbidden()} {
		for room := range folders {
			if _, err := os.Stat(room); err != nil {
				t.Errorf("the policy names the room %s, which is not there", room)
			}
		}
	}
}

// isModule reports whether a folder is a module of its own, as packaging is: neither module can import the other.
func isModule(path string) bool {
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

func checkFile(t *testing.T, path string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return
	}
	test := strings.HasSuffix(path, "_test.go")
	for _, spec := range f.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Error(err)
			continue
		}
		if why := violation(path, name, test); why != "" {
			t.Errorf("%s imports %s: %s", path, name, why)
		}
	}
}

// violation says why a file may not import a package, or "".
func violation(path, name string, test bool) string {
	room := roomOf(path)
	rooms, known := allowed()[room]
	if !known {
		return "the room " + room + " is not in the policy; a new room needs a reason in docs/design"
	}
	ours, inside := strings.CutPrefix(name, "weir/")
	if !inside {
		outer, _, _ := strings.Cut(room, "/")
		if !test && strings.HasSuffix(name, "/parquet/pqarrow") {
			return "pqarrow links gRPC and a hundred packages more (docs/design/io.md); parquet/file does without"
		}
		if outer == "train" && tableOrSpec(name) {
			return "train is arithmetic on numbers: it knows no table and no spec"
		}
		if !test && !exempt(path) && (contains(forbidden()[room], name) || contains(forbidden()[outer], name) ||
			contains(forbidden()[pathpkg.Dir(path)], name) || reachesOut(room, name)) {
			return "files, clock and randomness have rooms of their own"
		}
		return ""
	}
	if familyMeets(path, ours) {
		return "a family of models stands alone: what two need goes to stages/model/internal or artifact"
	}
	if why := betweenFamilies(path, ours); why != "" {
		return why
	}
	if why := acrossRuntime(path, ours); why != "" && !test {
		return why
	}
	target := roomOf(ours)
	if target == room || target == bitmath || contains(rooms, target) || test &&
		(target == "internal" || contains(inTests()[room], target)) {
		return ""
	}
	return room + " may import " + strings.Join(rooms, ", ")
}

// exempt reports whether a file is one of those that need what their room must not have, each with its
// reason in docs/design: programs that generate code, test helpers.
func exempt(path string) bool {
	return strings.HasPrefix(path, "train/internal/kernel/gen/") || strings.HasSuffix(path, "test/check.go")
}

func contains(list []string, word string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return false
}

// TestPolicyRejects shows that the check can fail.
func TestPolicyRejects(t *testing.T) {
	for _, c := range [][2]string{
		{"runtime/run.go", "weir/stages/prep"},
		{"pipeline/compile.go", "weir/runtime"},
		{"privacy/event.go", "weir/pipeline"},
		{"train/loop.go", "weir/pipeline"},
		{"train/rows.go", "github.com/apache/arrow/go/v15/arrow/array"},
		{"train/net/spec.go", "gopkg.in/yaml.v3"},
		{"stages/prep/encode.go", "os"},
		{"stages/prep/encode.go", "os/exec"},
		{"stages/prep/encode.go", "unsafe"},
		{"stages/prep/encode.go", "golang.org/x/sys/unix"},
		{"stages/prep/encode.go", "github.com/apache/arrow/go/v15/parquet/file"},
		{"stages/prep/gen/encode.go", "os"},
		{"runtime/table/writeparquet.go", "github.com/apache/arrow/go/v15/parquet/pqarrow"},
		{"stages/model/latent/vae.go", "weir/stages/model/gan"},
		{"stages/model/internal/encoded/rows.go", "weir/stages/model/gan"},
		{"stages/model/gan/dpwgan.go", "weir/stages/model/sample"},
		{"attic/old.go", "weir/schema"},
		{"runtime/store/cache.go", "weir/runtime"},
		{"runtime/payment/payer.go", "weir/runtime/table"},
		{"runtime/attic/old.go", "weir/runtime/store"},
		{"stages/prep/encode.go", "weir/pipeline/compile"},
		{"stages/prep/encode.go", "weir/pipeline/bill"},
		{"stages/prep/encode.go", "weir/pipeline/spec"},
		{"stages/model/gan.go", "weir/pipeline/pipelinetest"},
		{"stages/model/gan.go", "weir/pipeline/pipelinetest/more"},
		{"pipeline/kind.go", "weir/pipeline/spec"},
		{"pipeline/spec/parse.go", "weir/pipeline/compile"},
		{"pipeline/words/plan.go", "weir/pipeline/compile"},
		{"pipeline/bill/bill.go", "os"},
		{"runtime/run.go", "weir/pipeline/pipelinetest"},
		{"cmd/weir/run.go", "weir/pipeline/pipelinetest"},
		{"cmd/weir/audit.go", "weir/pipeline/neighbour"},
		{"runtime/run.go", "weir/pipeline/neighbour"},
		{"stages/model/sample/sample.go", "weir/pipeline/neighbour"},
		{"stages/prep/encode.go", "weir/stages/evaluate"},
		{"stages/evaluate/evaluate.go", "weir/stages/prep"},
		{"stages/evaluate/evaluate.go", "weir/stages/plots"},
		{"stages/evaluate/marginals.go", "weir/stages/model/graphical"},
		{"stages/internal/learn/tree.go", "weir/stages/evaluate"},
		{"stages/metric/marginal.go", "weir/stages/evaluate"},
		{"stages/model/gan/dpwgan.go", "weir/stages/evaluate"},
		{"train/marginal/counter.go", "weir/stages/internal/columns"},
		{"train/graphical/fit.go", "weir/privacy/noise"},
		{"train/graphical/fit.go", "time"},
		{"train/histogram/tree.go", "weir/privacy"},
		{"runtime/run.go", "weir/runtime/experiment"},
		{"runtime/experiment/table.go", "weir/runtime/audit"},
		{"stages/evaluate/evaluate.go", "weir/runtime/audit"},
		{"record/report/page.go", "weir/runtime/experiment"},
		{"train/histogram/tree.go", "weir/train/marginal"},
		{"train/histogram/tree.go", "github.com/apache/arrow/go/v15/arrow"},
	} {
		if violation(c[0], c[1], false) == "" {
			t.Errorf("%s may import %s, must be refused", c[0], c[1])
		}
	}
	if violation("stages/prep/unit_test.go", "weir/pipeline/compile", true) != "" || violation("stages/prep/encode.go",
		"weir/pipeline", false) != "" {
		t.Error("what the table allows is refused")
	}
}

// TestNoForeignData: no data of others is committed.
func TestNoForeignData(t *testing.T) {
	for _, pattern := range []string{"*.csv.gz", "*/*.csv.gz", "*/*/*.csv.gz", "*/*/*.data", "*/*/*.parquet"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if info, err := os.Stat(f); err == nil && info.Size() > 64<<10 {
				t.Errorf("%s: is a data file of %d bytes, must not be in the project", f, info.Size())
			}
		}
	}
}
