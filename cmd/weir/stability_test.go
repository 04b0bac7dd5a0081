package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// stability holds what each minor version wrote and printed: docs/stability.md says what of it stays.
const stability = "../../testdata/stability"

// earlier is what one minor version left: a study with runs, ledger, owner file, lock, bundle and saved plan; models
// and rows drawn from them; command lines and the fields that they printed; settings that specs could have.
type earlier struct {
	study
	folder, version string
}

// open copies the study of an earlier version into an empty folder with a git repository and makes it the current one.
func open(t *testing.T, folder string) earlier {
	t.Helper()
	folder, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	e := earlier{study{t, t.TempDir()}, folder, filepath.Base(folder)}
	e.must(os.CopyFS(e.dir, os.DirFS(filepath.Join(folder, "study"))))
	e.repository()
	t.Chdir(e.dir)
	return e
}

// TestEarlierVersionsAreRead: what each minor version wrote is read, its command lines end as they did and print what
// they did, and its specs may still say what they could.
func TestEarlierVersionsAreRead(t *testing.T) {
	versions, err := filepath.Glob(stability + "/*")
	if err != nil || !slices.Contains(versions, filepath.Join(stability, minor(nextVersion))) {
		t.Fatalf("%v; %s has %v, must have %s, which a command in docs/stability.md makes", err, stability, versions,
			minor(nextVersion))
	}
	for _, folder := range versions {
		t.Run(filepath.Base(folder), func(t *testing.T) { open(t, folder).check() })
	}
}

// minor returns the first two numbers of a version.
func minor(version string) string { return strings.Join(strings.Split(version, ".")[:2], ".") }

func (e earlier) check() {
	e.t.Helper()
	e.boundVersion()
	if e.version == minor(nextVersion) {
		e.paidOnce()
	}
	e.models()
	e.settings()
	e.flags()
	e.rules()
	ledger := e.read("visits.csv.weir-ledger.jsonl")
	for _, line := range e.lines() {
		line.check(e.t)
	}
	if now := e.read("visits.csv.weir-ledger.jsonl"); !strings.HasPrefix(now, ledger) || now == ledger {
		e.t.Errorf("the ledger is now\n%smust have charges behind\n%s", now, ledger)
	}
}

// paidOnce: a run of the same minor version is found by its spec, data and owner file, so nothing is charged again.
func (e earlier) paidOnce() {
	e.t.Helper()
	ledger := e.read("visits.csv.weir-ledger.jsonl")
	code, out, errs := command("run", "visits.yaml", "--json")
	if now := e.read("visits.csv.weir-ledger.jsonl"); code != exitDone || now != ledger ||
		!strings.Contains(out, `"reused": true`) {
		e.t.Errorf("run of what was run before: exit %d, %s%s and a ledger\n%smust charge nothing", code, out, errs, now)
	}
}

// boundVersion: the owner file, read before any run that would write it, tells which rows the declared version means.
func (e earlier) boundVersion() {
	e.t.Helper()
	table := e.read("visits.csv")
	e.write("visits.csv", table+"20,north,3\n")
	code, _, errs := command("run", "visits.yaml", "--out", "other")
	if code != exitPrivacy || !strings.Contains(errs, "charged with other content") {
		e.t.Errorf("run of other rows under the same version: exit %d, must be %d: %s", code, exitPrivacy, errs)
	}
	e.write("visits.csv", table)
}

// models draws rows from each model: the rows that were drawn then, unless a kind says by its version that its results
// changed.
func (e earlier) models() {
	e.t.Helper()
	models, _ := filepath.Glob(filepath.Join(e.folder, "models/*.model"))
	if len(models) == 0 {
		e.t.Fatalf("%s/models holds no model", e.folder)
	}
	text, err := os.ReadFile(filepath.Join(e.folder, "models/kinds.json"))
	e.must(err)
	var versions map[string]int
	e.must(json.Unmarshal(text, &versions))
	today, err := versionOfKinds()
	e.must(err)
	for _, model := range models {
		kind := strings.TrimSuffix(filepath.Base(model), ".model")
		want, err := os.ReadFile(filepath.Join(e.folder, "models", kind+".csv"))
		e.must(err)
		code, rows, errs := command("sample", model, "--rows", strconv.Itoa(modelRows))
		equal := versions["sample"] == today.Kinds["sample"] && versions[kind] == today.Kinds[kind]
		if code != exitDone || strings.Count(rows, "\n") != modelRows+1 || equal && rows != string(want) {
			e.t.Errorf("model of %s: exit %d, %s\n%s\nmust be\n%s", kind, code, errs, rows, want)
		}
	}
}

// modelRows is how many rows are drawn from each model.
const modelRows = 5

// promised is a command line, its exit code, and the fields of what it prints with their types.
type promised struct {
	line   string // as commands.txt has it
	code   int
	args   []string
	fields map[string][]string
}

// promisedLine is a command line of commands.txt; the fields that it prints stand below it, indented.
var promisedLine = regexp.MustCompile(`^(?:exits (\d+) )?weir (.+)$`)

// lines reads commands.txt.
func (e earlier) lines() (list []promised) {
	e.t.Helper()
	text, err := os.ReadFile(filepath.Join(e.folder, "commands.txt"))
	e.must(err)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if m := promisedLine.FindStringSubmatch(line); m != nil {
			code, _ := strconv.Atoi(m[1])
			list = append(list, promised{line, code, strings.Fields(m[2]), map[string][]string{}})
			continue
		}
		field, types, _ := strings.Cut(strings.TrimPrefix(line, "  "), " is ")
		list[len(list)-1].fields[field] = strings.Split(types, " or ")
	}
	return list
}

// check runs a command line: it must print each field with a type that it had.
func (p promised) check(t *testing.T) {
	t.Helper()
	fields := p.print(t)
	for field, types := range p.fields {
		if !slices.ContainsFunc(fields[field], func(is string) bool { return slices.Contains(types, is) }) {
			t.Errorf("%s: prints %s as %v, must be %v", p.line, field, fields[field], types)
		}
	}
}

// print runs a command line and returns the fields of what it prints; remarks only where its noise is fixed.
func (p promised) print(t *testing.T) map[string][]string {
	t.Helper()
	code, out, errs := command(p.args...)
	var printed any
	if err := json.Unmarshal([]byte(out), &printed); code != p.code || err != nil {
		t.Fatalf("%s: exit %d, %v: %s%s", p.line, code, err, out, errs)
	}
	fields := map[string][]string{}
	addFields(fields, "", printed)
	if !slices.Contains(p.args, "--insecure-noise-seed") {
		maps.DeleteFunc(fields, func(field string, _ []string) bool { return remarks.MatchString(field) })
	}
	return fields
}

// remarks are what a stage says of what it released: the noise decides whether there is any.
var remarks = regexp.MustCompile(`\bremarks\b`)

// rule is the id of an audit rule, by which lists of rules are told apart.
var rule = regexp.MustCompile(`^W\d+$`)

// addFields adds the fields of a value by path, each with its types. A name with a dot is the name of a figure, which
// the version of its kind answers for.
func addFields(fields map[string][]string, path string, value any) {
	note := func(what string) {
		if !slices.Contains(fields[path], what) {
			fields[path] = append(fields[path], what)
		}
	}
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			if strings.Contains(name, ".") {
				name = "*"
			}
			addFields(fields, strings.TrimPrefix(path+"."+name, "."), inner)
		}
	case []any:
		note("list")
		for _, inner := range v {
			if o, is := inner.(map[string]any); is && rule.MatchString(fmt.Sprint(o["id"])) {
				fields[path+"["+fmt.Sprint(o["id"])+"]"] = []string{"rule"}
			}
			addFields(fields, path+"[]", inner)
		}
	case string:
		note("text")
	case float64:
		note("number")
	case bool:
		note("true/false")
	case nil:
		note("null")
	}
}

// TestEveryCommandWithJSONIsPromised, in the folder of the version that comes next.
func TestEveryCommandWithJSONIsPromised(t *testing.T) {
	e := earlier{study{t, ""}, filepath.Join(stability, minor(nextVersion)), ""}
	seen := map[string]bool{}
	root := newRoot(streams{})
	for _, p := range e.lines() {
		if c, _, err := root.Find(p.args); err == nil && slices.Contains(p.args, "--json") {
			seen[c.CommandPath()] = true
		}
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.Flags().Lookup("json") != nil && !seen[c.CommandPath()] {
			t.Errorf("commands.txt has no line of %s --json, must have one", c.CommandPath())
		}
	}
	walk(root)
}

// TestStabilityPageHasTheExitCodes, each with its meaning, and no others.
func TestStabilityPageHasTheExitCodes(t *testing.T) {
	page, err := os.ReadFile("../../docs/stability.md")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, e := range exits() {
		fmt.Fprintf(&want, "| %d | %s |\n", e.code, e.what)
	}
	rows := regexp.MustCompile(`(?m)^\| \d+ \|.*\n`).FindAllString(string(page), -1)
	if got := strings.Join(rows, ""); got != want.String() {
		t.Errorf("docs/stability.md has\n%smust have\n%s", got, want.String())
	}
}
