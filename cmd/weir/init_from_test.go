package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weir/internal/stattest"
)

// TestInitFromRuns: a spec that is written for a domain and a table finds both from its
// folder, leaves out what cannot be measured, takes the target over, runs, and its record
// verifies. It holds no value of the table.
func TestInitFromRuns(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 300)
	s.write("data.csv", strings.ReplaceAll(s.read("data.csv"), ",", ";"))
	code, out, errs := s.weir("init", s.path("new"), "--from", s.path("domain.yaml"), "--data", s.path("data.csv"),
		"--target", "flag", "--rows-public", "300")
	if code != exitDone || !strings.Contains(out, filepath.Join("new", "pipeline.yaml")) {
		t.Fatalf("exit code %d: %s%s", code, out, errs)
	}
	if want := "names files outside of its folder, ../domain.yaml and ../data.csv"; !strings.Contains(errs, want) {
		t.Errorf("a spec that a review refuses: %q, must say %q", errs, want)
	}
	code, _, errs = s.weir("init", s.dir, "--from", s.path("domain.yaml"), "--data", s.path("data.csv"), "--rows-public",
		"300")
	if code != exitDone || strings.Contains(errs, "outside of its folder") {
		t.Errorf("in the folder of the table: exit code %d, %s", code, errs)
	}
	if code, out, errs := s.weir("check", "--confine", s.path("pipeline.yaml")); code != exitDone {
		t.Errorf("the spec beside its table is refused under --confine: exit code %d, %s%s", code, out, errs)
	}
	text := s.read("new/pipeline.yaml")
	for _, want := range []string{"file: ../data.csv\n", `csv: {delimiter: ";"}`, "domain: ../domain.yaml ",
		"rows_public: 300 ", "adjacency: replace_one ", "delta: 1e-4 ",
		"nameless: {kind: drop, from: split.train, columns: [id]}", "{kind: auto, from: nameless}", "rows: 270}",
		"target: flag, models: [logistic_regression]"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, needle) {
		t.Error("the spec holds a value of the table")
	}
	s.write("new/capped.yaml", strings.Replace(text, "  # budget: ", "  budget: ", 1))
	if code, out, errs = s.weir("plan", s.path("new/capped.yaml")); code != exitDone ||
		!strings.Contains(out, "budget           epsilon 10; ") {
		t.Errorf("with the cap that the draft offers: exit code %d: %s%s", code, out, errs)
	}
	code, out, errs = s.weir("run", s.path("new/pipeline.yaml"), "--out", s.path("runs"), "--insecure-noise-seed", "1")
	if code != exitDone {
		t.Fatalf("run: exit code %d: %s%s", code, out, errs)
	}
	dirs, _ := filepath.Glob(s.path("runs/data/2*"))
	if len(dirs) != 1 {
		t.Fatalf("runs %v, must be one, of the study data", dirs)
	}
	if code, out, errs = s.weir("verify", dirs[0]); code != exitDone {
		t.Errorf("verify: exit code %d: %s%s", code, out, errs)
	}
	if bill := s.read(rel(t, s.dir, dirs[0]) + "/release/BILL.txt"); !strings.Contains(bill,
		"  train.target: flag (from stage utility)\n") || !strings.Contains(bill,
		"  train.kind: marginal_tree (n mu = 270 x ") {
		t.Errorf("the bill must say what was decided:\n%s", bill)
	}
}

// TestInitWithUnit: the unit, its most rows and the epsilon stand in the spec, which checks, whether or not rows are
// public; no model sees the unit, and what cannot be is refused.
func TestInitWithUnit(t *testing.T) {
	s := newStudy(t, 300)
	begin := func(dir string, more ...string) (int, string) {
		code, _, errs := s.weir(append([]string{"init", s.path(dir), "--from", s.path("domain.yaml"), "--data",
			s.path("data.csv")}, more...)...)
		return code, errs
	}
	neighbours := map[string]string{"private": "# all rows of one unit more or less",
		"public": "# one unit's rows exchanged for another's"}
	for dir, rows := range map[string][]string{"private": nil, "public": {"--rows-public", "300"}} {
		if code, errs := begin(dir, append(rows, "--unit", "group", "--max-rows", "5", "--epsilon", "0.5")...); code !=
			exitDone {
			t.Fatalf("%s: exit code %d: %s", dir, code, errs)
		}
		text := s.read(dir + "/pipeline.yaml")
		for _, want := range []string{"privacy_unit: {column: group, max_rows: 5} ", "epsilon: 0.5 ",
			"nameless: {kind: drop, from: split.train, columns: [id, group]}", neighbours[dir]} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing in\n%s", dir, want, text)
			}
		}
		if code, out, errs := s.weir("check", s.path(dir+"/pipeline.yaml")); code != exitDone {
			t.Errorf("%s: check: exit code %d: %s%s", dir, code, out, errs)
		}
	}
	for want, more := range map[string][]string{
		"--max-rows: is 0, must be the most rows that one value of group may keep": {"--unit", "group"},
		"--max-rows: is given without --unit":                                      {"--max-rows", "3"},
		"--epsilon: is 0, must be a number above 0":                                {"--epsilon", "0"},
		`--unit: is "gruop"`:                                                       {"--unit", "gruop", "--max-rows", "3"},
	} {
		if code, errs := begin("refused", more...); code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%v: exit code %d: %s, must hold %q", more, code, errs, want)
		}
	}
}

// TestTableOfAnotherEncoding: a table in Windows-1252 is refused with the line and the remedy, which infer and init
// take.
func TestTableOfAnotherEncoding(t *testing.T) {
	s := study{t, t.TempDir()}
	s.write("data.csv", "size;place\n1;Z\xfcrich\n2;M\xe1laga\n3;Z\xfcrich\n")
	data := s.path("data.csv")
	code, _, errs := s.weir("domain", "infer", data)
	if code != exitFailed || !strings.Contains(errs, "line 2: is not UTF-8 text") || !strings.Contains(errs,
		"--encoding") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	code, draft, errs := s.weir("domain", "infer", data, "--encoding", "windows-1252")
	if code != exitDone || !strings.Contains(draft, `encoding: "windows-1252", delimiter: ";"`) || !strings.Contains(draft,
		"Zürich") {
		t.Fatalf("exit code %d: %s%s", code, draft, errs)
	}
	s.write("domain.yaml", "columns:\n  - {name: size, type: integer, bounds: [0, 9]}\n  - {name: place, type: "+
		"categorical, categories: [Zürich, Málaga]}\n")
	code, _, errs = s.weir("init", s.path("new"), "--from", s.path("domain.yaml"), "--data", data, "--encoding",
		"windows-1252", "--rows-public", "3")
	if code != exitDone || !strings.Contains(s.read("new/pipeline.yaml"),
		`csv: {encoding: "windows-1252", delimiter: ";"}`) {
		t.Fatalf("exit code %d: %s%s", code, errs, s.read("new/pipeline.yaml"))
	}
}

// TestInitFromUnit: the privacy unit that the spec offers for a column of names is all that has to be edited, whatever
// the domain says of the column.
func TestInitFromUnit(t *testing.T) {
	s := study{t, t.TempDir()}
	s.write("data.csv", "patient_id,age\n1,2\n")
	for _, id := range []string{"type: text", "type: integer", "type: integer, bounds: [0, 9]",
		"type: categorical, categories: private"} {
		s.write("domain.yaml", "columns:\n  - {name: patient_id, "+id+"}\n  - {name: age, type: integer, bounds: [0, 9]}\n")
		dir := filepath.Join(s.dir, strings.ReplaceAll(id, " ", ""))
		if code, _, errs := s.weir("init", dir, "--from", s.path("domain.yaml"), "--data", s.path("data.csv")); code !=
			exitDone {
			t.Fatalf("%s: exit code %d: %s", id, code, errs)
		}
		name := rel(t, s.dir, filepath.Join(dir, "pipeline.yaml"))
		whole, offered := s.read(name), "row # where a person may have several rows: "
		s.write(name, strings.Replace(whole, offered, "", 1))
		if code, out, errs := s.weir("check", s.path(name)); !strings.Contains(whole, offered+"{column: patient_id,") ||
			code != exitDone {
			t.Errorf("%s: exit code %d: %s%s\n%s", id, code, out, errs, whole)
		}
	}
}

func rel(t *testing.T, from, to string) string {
	t.Helper()
	path, err := filepath.Rel(from, to)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestInitFromAnyNames: whatever columns are called, the spec says of them what it means
// to, with and without a target, a table and a row count. Integers, which are dropped as text
// is, are left to the long run of the tests.
func TestInitFromAnyNames(t *testing.T) {
	t.Parallel()
	s := study{t, t.TempDir()}
	names := []string{"yes", "a: b", "1e5", "# c", `q"uo'te`, "{{.Name}}", "[x, y]", "none", "-", "~", "été", "null", ".5",
		"no\\t"}
	types := []string{"text", "boolean"}
	if stattest.Long {
		types = append(types, "integer")
	}
	for _, last := range types {
		domain := "columns:\n  - {name: kept, type: integer, bounds: [0, 9]}\n  - {name: far, type: date, bounds: [0, 9]}\n"
		for _, name := range names {
			domain += "  - {name: " + quoteAlways(name) + ", type: " + last + "}\n"
		}
		s.write("my study.domain.yaml", domain)
		for i, flags := range [][]string{nil, {"--target", "kept"}, {"--target", "a: b"}, {"--rows-public", "100000"}} {
			dir := filepath.Join(s.dir, last, string(rune('a'+i)))
			code, _, errs := s.weir(append([]string{"init", dir, "--from", s.path("my study.domain.yaml")}, flags...)...)
			if refused := last != "boolean" && slices.Contains(flags, "a: b"); refused != (code == exitUsage) {
				t.Errorf("%s %v: exit code %d: %s", last, flags, code, errs)
			} else if refused {
				continue
			}
			code, out, errs := s.weir("check", filepath.Join(dir, "pipeline.yaml"))
			if code != exitDone {
				t.Errorf("%s %v: check: exit code %d: %s%s", last, flags, code, out, errs)
			}
			_, out, _ = s.weir("render", filepath.Join(dir, "pipeline.yaml"))
			if got := strings.Contains(out, "kind: drop"); got != (last != "boolean") {
				t.Errorf("%s %v: columns are dropped: %v:\n%s", last, flags, got, out)
			}
		}
	}
}

func quoteAlways(s string) string {
	return `"` + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `"`, `\"`) + `"`
}

// TestInitFromRefuses what it cannot begin, says why, and writes nothing.
func TestInitFromRefuses(t *testing.T) {
	s := newStudy(t, 20)
	s.write("text.yaml", "columns:\n  - {name: a, type: text}\n  - {name: b, type: integer}\n")
	s.write("draft.yaml", "columns:\n  - {name: a, type: integer, bounds: [0, 1], source: UNDECIDED}\n")
	s.write("words.yaml", "columns:\n  - {name: Person ID, type: text}\n  - {name: b, type: boolean}\n")
	s.weir("init", s.path("mine"))
	for want, args := range map[string][]string{
		"did you mean income?":                   {"--from", "domain.yaml", "--target", "incom"},
		"--target: is id, which looks as if":     {"--from", "domain.yaml", "--target", "id"},
		"in quotes: --unit 'Person ID'":          {"--from", "words.yaml", "--unit", "Person", "--max-rows", "2"},
		"a name of several words is put in":      {"--from", "words.yaml", "--unit", "Person", "ID", "--max-rows", "2"},
		"columns cannot be measured":             {"--from", "text.yaml"},
		"UNDECIDED":                              {"--from", "draft.yaml"},
		"--from: is missing":                     {"--target", "income"},
		"--rows-public: is -1":                   {"--from", "domain.yaml", "--rows-public", "-1"},
		"nowhere.yaml":                           {"--from", "nowhere.yaml"},
		"nowhere.csv":                            {"--from", "domain.yaml", "--data", "nowhere.csv"},
		"the table: is named by an address":      {"--from", "domain.yaml", "--data", "postgres://hidden/db"},
		"argument 6: holds a password":           {"--from", "domain.yaml", "--data", "postgres://u:hidden@h/db"},
		"pipeline.yaml: exists; init overwrites": {"mine", "--from", "domain.yaml"},
	} {
		for i, arg := range args {
			if strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".csv") || arg == "mine" {
				args[i] = s.path(arg)
			}
		}
		if args[0] != s.path("mine") {
			args = append([]string{s.path("new")}, args...)
		}
		code, _, errs := s.weir(append([]string{"init"}, args...)...)
		if found, _ := filepath.Glob(s.path("new/*")); code != exitUsage || !strings.Contains(errs, want) ||
			strings.Contains(errs, "hidden") || len(found) > 0 {
			t.Errorf("%v: exit code %d, wrote %v, must be %d and say %q: %s", args, code, found, exitUsage, want, errs)
		}
	}
}

// TestNoRowsArePublic: a number of rows that is said to be public is one.
func TestNoRowsArePublic(t *testing.T) {
	s := newStudy(t, 300)
	for _, more := range [][]string{{"--rows-public", "0"}, {"--rows-public", "-3"}, {"--from", s.path("domain.yaml"),
		"--rows-public", "0"}} {
		code, _, errs := s.weir(append([]string{"init", s.path("new")}, more...)...)
		if code != exitUsage || !strings.Contains(errs, "must be a number of rows that is publicly known, at least 1; "+
			"without it their number is private") {
			t.Errorf("%v: exit code %d: %s", more, code, errs)
		}
	}
}
