package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
)

// TestMain lets the test binary stand in for weir, so that tests can kill it: by a variable,
// or by the name that scripts call it (testdata/script).
func TestMain(m *testing.M) {
	if os.Getenv("WEIR_TEST_MAIN") == "1" || filepath.Base(os.Args[0]) == "weir" {
		limitFiles(os.Getenv("WEIR_TEST_FSIZE"))
		standIn()
	}
	os.Exit(runTests(m))
}

// standIn runs the command line as main does. It takes the digest of this program from the
// tests that started it, where they give it.
func standIn() {
	os.Exit(program(func() string {
		if given := os.Getenv("WEIR_TEST_BUILD"); given != "" {
			return given
		}
		return ownBuild()
	}))
}

// ownBuild reads the test binary, of 80 MB, once and not in every run.
var ownBuild = sync.OnceValue(build)

// runTests runs the tests of this process, which allocate as weir does and keep their folders in
// memory where the machine has some: no test asks what a real disk does (faultydisk_test.go).
func runTests(m *testing.M) int {
	growing()
	debug.SetGCPercent(400) // a test is over before its memory counts
	os.Setenv("GOGC", "400")
	os.Setenv("WEIR_TEST_BUILD", ownBuild())
	if dir, err := os.MkdirTemp("/dev/shm", "weir"); err == nil {
		defer os.RemoveAll(dir)
		if roomy(dir) {
			os.Setenv("TMPDIR", dir)
			os.Setenv("GOTMPDIR", dir)
		}
	}
	return onPath(m)
}

// onPath runs the tests with this binary on the path under the name weir.
func onPath(m *testing.M) int {
	bin, err := os.MkdirTemp("", "weir-bin")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(bin)
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(bin, "weir"))
	}
	if err != nil {
		panic(err)
	}
	os.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return m.Run()
}

// needle is a private value that must never show in messages or in release/.
const needle = "73313"

// study is a folder with a spec, a domain and a private table.
type study struct {
	t   *testing.T
	dir string
}

// newStudy writes a table of n rows; row 3 holds the needle, in bounds. It is billed by rdp, which
// takes a tenth of the time of pld; tests of figures take the latter by tight.
func newStudy(t *testing.T, n int) study { return newStudyIn(t, t.TempDir(), n) }

func newStudyIn(t *testing.T, dir string, n int) study {
	s := study{t, dir}
	var b strings.Builder
	b.WriteString("id,income,group,flag\n")
	for i := range n {
		income := 20000 + (i*7919)%60000
		if i == 3 {
			income = 73313
		}
		fmt.Fprintf(&b, "%d,%d,%c,%d\n", i, income, 'a'+rune(i%3), i%2)
	}
	s.write("data.csv", b.String())
	s.write("domain.yaml", `columns:
  - {name: id, type: integer}
  - {name: income, type: integer, bounds: [0, 100000]}
  - {name: group, type: categorical, categories: [a, b, c]}
  - {name: flag, type: boolean}
`)
	s.write("spec.yaml", `weir: 1
name: study
dataset: {file: data.csv, domain: domain.yaml, rows_public: `+fmt.Sprint(n)+`}
privacy: {epsilon: 1, delta: 1e-6, accountant: rdp, adjacency: replace_one}
seed: 3
stages:
  features: {kind: drop, columns: [id]}
  clean: {kind: bounds, outside: missing}
  complete: {kind: impute_constant, numbers: {income: 50000}}
  encode: {kind: encode}
  train: `+smallGAN+`
  sample: {kind: sample, rows: 50}
`)
	return s
}

// smallGAN is what the study trains: one step of a critic for each of the generator, since most tests train it.
const smallGAN = "{kind: dp_wgan, steps: 40, critic_steps: 1, expected_batch_size: 16, generator: [8], critic: [8], " +
	"latent_dim: 4, generated_batch: 16, checkpoint_every: 10}"

// training makes the study train a kind that reads no codes, with its defaults.
func (s study) training(kind string) {
	s.t.Helper()
	s.edit("spec.yaml", "train: "+smallGAN, "train: {kind: "+kind+"}")
	s.edit("spec.yaml", "  encode: {kind: encode}\n", "")
}

// tight bills the study by pld, as specs are that do not name an accountant.
func (s study) tight() study {
	s.t.Helper()
	s.edit("spec.yaml", "accountant: rdp, ", "")
	return s
}

func (s study) path(name string) string { return filepath.Join(s.dir, name) }

func (s study) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s study) read(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

// edit replaces text in a file; not finding it is a fault of the test.
func (s study) edit(name, old, new string) {
	s.t.Helper()
	text := s.read(name)
	if !strings.Contains(text, old) {
		s.t.Fatalf("%s does not hold %q", name, old)
	}
	s.write(name, strings.ReplaceAll(text, old, new))
}

// snapshot keeps the files of a study. What it returns puts them back: a case of a test begins
// with what was made once.
func (s study) snapshot() (restore func()) {
	s.t.Helper()
	stored := s.t.TempDir()
	s.must(os.CopyFS(stored, os.DirFS(s.dir)))
	return func() {
		s.t.Helper()
		left, err := os.ReadDir(s.dir)
		s.must(err)
		for _, entry := range left {
			s.must(os.RemoveAll(s.path(entry.Name())))
		}
		s.must(os.CopyFS(s.dir, os.DirFS(stored)))
	}
}

// weir runs a command line in this process.
func (s study) weir(args ...string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	code = execute(context.Background(), streams{in: strings.NewReader(""), out: &stdout, err: &stderr, build: ownBuild},
		args)
	return code, stdout.String(), stderr.String()
}

// run runs `weir run` on the study, with its runs inside its folder.
func (s study) run(args ...string) (code int, out, errs string) {
	return s.weir(append([]string{"run", s.path("spec.yaml"), "--out", s.path("runs")}, args...)...)
}

// result runs with --json and decodes what it prints.
func (s study) result(args ...string) runResult {
	s.t.Helper()
	code, out, errs := s.run(append(args, "--json")...)
	if code != exitDone {
		s.t.Fatalf("weir run: exit code %d: %s", code, errs)
	}
	var r runResult
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		s.t.Fatalf("%v in %s", err, out)
	}
	return r
}

// process starts `weir run` as a process of its own.
func (s study) process(env []string, args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], append([]string{"run", s.path("spec.yaml"), "--out", s.path("runs")}, args...)...)
	c.Env = append(append(os.Environ(), "WEIR_TEST_MAIN=1"), env...)
	return c
}

// released returns the content of a file of a release.
func released(t *testing.T, r runResult, suffix string) string {
	t.Helper()
	for _, f := range r.Release {
		if strings.HasSuffix(strings.Replace(f, ".NOT-PRIVATE", "", 1), suffix) {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			return string(data)
		}
	}
	t.Fatalf("no %s in %v", suffix, r.Release)
	return ""
}

// roomy reports whether a folder takes 256 MiB: containers often have 64 of memory there.
func roomy(dir string) bool {
	path := filepath.Join(dir, "probe")
	defer os.Remove(path)
	return os.WriteFile(path, make([]byte, 256<<20), 0o600) == nil
}
