package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hostile is one way in which a user's files can be wrong.
type hostile struct {
	name string
	do   func(s study)
	args []string
	code int
	want string // what the message must say
}

func badSpecs() []hostile {
	spec := func(old, new string) func(study) { return func(s study) { s.edit("spec.yaml", old, new) } }
	return []hostile{
		{"unknown key", spec("seed: 3", "sead: 3"), nil, exitUsage, "did you mean seed?"},
		{"duplicate key", spec("seed: 3", "seed: 3\nseed: 4"), nil, exitUsage, "seed"},
		{"anchor", spec("seed: 3", "seed: &a 3"), nil, exitUsage, "anchor"},
		{"alias bomb", spec("seed: 3", "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\nseed: 3"), nil, exitUsage, "anchor"},
		{"huge spec", func(s study) { s.write("spec.yaml", strings.Repeat("# x\n", 1<<19)) }, nil, exitUsage, "1 MiB"},
		{"missing spec", func(s study) { os.Remove(s.path("spec.yaml")) }, nil, exitUsage, "no such file"},
		{"missing domain", func(s study) { os.Remove(s.path("domain.yaml")) }, nil, exitUsage, "no such file"},
		{"dangling stage", spec("kind: encode}", "kind: encode, from: claen}"), nil, exitUsage, "did you mean clean?"},
		{"unknown column", spec("columns: [id]", "columns: [idd]"), nil, exitUsage, "did you mean id?"},
		{"not a number", spec("epsilon: 1,", "epsilon: one,"), nil, exitUsage, "privacy.epsilon"},
		{"confined path", spec("file: data.csv", "file: ../data.csv"), []string{"--confine"}, exitUsage, "--confine"},
		{"confined link", func(s study) {
			os.Symlink("/etc", s.path("link"))
			s.edit("spec.yaml", "file: data.csv", "file: link/passwd")
		}, []string{"--confine"}, exitUsage, "--confine"},
		{"set without =", func(study) {}, []string{"--set", "seed"}, exitUsage, "path=value"},
		{"set of nothing", func(study) {}, []string{"--set", "stages.train.stepps=3"}, exitUsage, "did you mean steps?"},
		{"unbounded", spec("{kind: impute_constant, numbers: {income: 50000}}", "{kind: impute_knn, scope: table}"), nil,
			exitPrivacy, "W03"},
		{"no row count", spec(", rows_public: 400", ""), nil, exitPrivacy, "W05"},
		{"batch above the rate", spec("expected_batch_size: 16", "expected_batch_size: 16, sampling_rate: 0.5"), nil,
			exitUsage, "expected_batch_size"},
		{"undecided domain", func(s study) {
			s.edit("domain.yaml", "bounds: [0, 100000]", "bounds: [0, 100000], source: UNDECIDED")
		}, nil, exitUsage, "W01"},
		{"shares", spec("replace_one}", "replace_one, split: {train: 0.5}}"), nil, exitUsage, "sum to 1"},
		{"flag", func(study) {}, []string{"--nonsense"}, exitUsage, "--help"},
	}
}

func badData() []hostile {
	data := func(change func(text string) string) func(study) {
		return func(s study) { s.write("data.csv", change(s.read("data.csv"))) }
	}
	replace := func(old, new string) func(study) {
		return data(func(text string) string { return strings.Replace(text, old, new, 1) })
	}
	return []hostile{
		{"missing file", func(s study) { os.Remove(s.path("data.csv")) }, nil, exitFailed, "data.csv"},
		{"truncated gzip", func(s study) {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			z.Write([]byte(s.read("data.csv")))
			z.Close()
			s.write("data.csv.gz", b.String()[:b.Len()/2])
			s.edit("spec.yaml", "file: data.csv", "file: data.csv.gz")
		}, nil, exitFailed, "data.csv.gz"},
		{"ragged row", replace("3,73313,a,1", "3,73313,a"), nil, exitFailed, "line 5"},
		{"wrong delimiter", func(s study) { s.edit("data.csv", ",", ";") }, nil, exitFailed, "delimiter"},
		{"not UTF-8", replace("3,73313,a,1", "3,73313,\xff\xfe,1"), nil, exitFailed, "UTF-8"},
		{"outside categories", replace("3,73313,a,1", "3,73313,zebulon,1"), nil, exitFailed, "group"},
		{"empty table", data(func(string) string { return "id,income,group,flag\n" }), nil, exitFailed, ""},
		{"empty file", data(func(string) string { return "" }), nil, exitFailed, "data.csv"},
		{"fraction in integer", replace("73313", "73313.5"), nil, exitFailed, "income"},
		{"NaN", replace("73313", "NaN"), nil, exitFailed, "income"},
		{"duplicate names", replace("id,income,group,flag", "id,income,income,flag"), nil, exitFailed, "income"},
		{"missing column", replace("id,income,group,flag", "id,revenue,group,flag"), nil, exitFailed, "income"},
		{"quote not closed", replace("3,73313,a,1", "3,73313,\"a,1"), nil, exitFailed, "quote"},
		{"other row count", func(s study) { s.edit("spec.yaml", "rows_public: 400", "rows_public: 399") }, nil, exitFailed,
			"rows_public"},
	}
}

// TestHostileInput: every fault has its exit code and a message that says it,
// quotes no private value, leaves no release and charges nothing.
func TestHostileInput(t *testing.T) {
	t.Parallel()
	for _, h := range append(badSpecs(), badData()...) {
		t.Run(h.name, func(t *testing.T) {
			s := newStudy(t, 400)
			h.do(s)
			code, out, errs := s.run(h.args...)
			t.Log(strings.TrimSpace(errs))
			if code != h.code {
				t.Errorf("exit code %d, must be %d: %s%s", code, h.code, out, errs)
			}
			if !strings.Contains(errs, h.want) {
				t.Errorf("the message must say %q", h.want)
			}
			for _, private := range []string{needle, "zebulon"} {
				if strings.Contains(out+errs, private) {
					t.Errorf("the message quotes the private value %s", private)
				}
			}
			if found, _ := filepath.Glob(s.path("runs/study/*/release*")); len(found) > 0 {
				t.Errorf("there is a release: %v", found)
			}
			if _, err := os.Stat(s.path("data.csv.weir-ledger.jsonl")); err == nil {
				t.Error("something was charged")
			}
		})
	}
}

// TestHarmlessInput: what spreadsheets do to files is read as it is meant.
func TestHarmlessInput(t *testing.T) {
	want := newStudy(t, 400).result("--insecure-noise-seed", "1")
	for name, change := range map[string]func(string) string{
		"BOM":               func(text string) string { return "\ufeff" + text },
		"CRLF":              func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") },
		"no last newline":   func(text string) string { return strings.TrimSuffix(text, "\n") },
		"integral exponent": func(text string) string { return strings.Replace(text, ",20000,", ",2e+04,", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStudy(t, 400)
			s.write("data.csv", change(s.read("data.csv")))
			got := s.result("--insecure-noise-seed", "1")
			if released(t, got, "sample.csv") != released(t, want, "sample.csv") {
				t.Error("the table is read otherwise")
			}
		})
	}
}
