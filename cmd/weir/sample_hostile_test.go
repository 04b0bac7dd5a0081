package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/runtime/store"
)

// richModel returns a released model whose table went through every step that sampling
// undoes; its parts, with the cover first.
func richModel(t *testing.T) (study, []pipeline.File) {
	t.Helper()
	s := newStudy(t, 400)
	var b strings.Builder
	b.WriteString("income,age,size,day,group,flag\n")
	for i := range 400 {
		fmt.Fprintf(&b, "%d,%d,%g,2020-01-%02d,%s,%d\n", 20000+i, i%90, float64(i)/8, 1+i%28,
			[]string{"a", "b", "c", ""}[i%4], i%2)
	}
	s.write("data.csv", b.String())
	s.write("domain.yaml", `columns:
  - {name: income, type: integer, bounds: [0, 100000], nullable: true}
  - {name: age, type: integer, bounds: [0, 90]}
  - {name: size, type: numeric, bounds: [0, 50], step: 0.125}
  - {name: day, type: date, bounds: [18262, 18300]}
  - {name: group, type: categorical, categories: [a, b, c], nullable: true}
  - {name: flag, type: boolean}
`)
	s.edit("spec.yaml", `  features: {kind: drop, columns: [id]}
  clean: {kind: bounds, outside: missing}
  complete: {kind: impute_constant, numbers: {income: 50000}}
  encode: {kind: encode}
`, `  answer: {kind: not_available, columns: {age: 89}}
  gaps: {kind: missing_indicator, columns: [income]}
  complete: {kind: impute_constant, numbers: {income: 50000}}
  bins: {kind: discretize, columns: [income], inverse: uniform, bins: 4}
  encode: {kind: encode, missing: category, standard: {size: {mean: 30, sd: 20}}}
`)
	r := s.result()
	for _, f := range r.Release {
		if strings.HasSuffix(f, ".model") {
			return s, partsOf(t, f)
		}
	}
	t.Fatalf("no model in %v", r.Release)
	return s, nil
}

func partsOf(t *testing.T, path string) []pipeline.File {
	t.Helper()
	files, err := store.ReadArchive(path)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// sampled writes a model and draws from it: an error with a place and without a
// terminal escape, or as many rows as were asked for, in bounded memory.
func (s study) sampled(what string, files []pipeline.File) bool {
	s.t.Helper()
	path := s.path("crafted.model")
	var archive bytes.Buffer
	if err := store.WriteArchive(&archive, files); err != nil {
		return false // refused on the way in, as readers refuse it: TestHostileArchive
	}
	s.must(os.WriteFile(path, archive.Bytes(), 0o600))
	return s.tryDraw(what, path, int64(archive.Len()))
}

func (s study) tryDraw(what, path string, size int64) bool {
	s.t.Helper()
	defer func() {
		if e := recover(); e != nil {
			s.t.Errorf("%s: panics: %v", what, e)
		}
	}()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	code, out, errs := s.weir("sample", path, "--rows", "20")
	runtime.ReadMemStats(&after)
	if got, most := int64(after.TotalAlloc-before.TotalAlloc), 32<<20+100*size; got > most {
		s.t.Errorf("%s: allocates %d bytes for a model of %d, must be at most %d", what, got, size, most)
	}
	if strings.ContainsAny(errs+out, "\x1b\x00\x07") {
		s.t.Errorf("%s: writes a control character: %q", what, errs)
	}
	switch {
	case code == exitDone && strings.Count(out, "\n") != 21:
		s.t.Errorf("%s: draws %d lines, must be 21", what, strings.Count(out, "\n"))
	case code != exitDone && (code != exitFailed || !strings.Contains(errs, path+": ")):
		s.t.Errorf("%s: exit code %d, %q; must be %d and name the file", what, code, errs, exitFailed)
	}
	return code == exitDone
}

// TestCraftedModels: a released model goes to strangers, and comes back from them.
// Each value of its description is changed in turn, under a digest that is right; every seventeenth
// change in an ordinary run of the tests. It measures what the process allocates, so it is not parallel.
func TestCraftedModels(t *testing.T) {
	s, files := richModel(t)
	index := slices.IndexFunc(files, func(f pipeline.File) bool { return f.Name == "model.json" })
	var tree any
	if err := json.Unmarshal(files[index].Data, &tree); err != nil {
		t.Fatal(err)
	}
	if !s.sampled("as it was", files) {
		t.Fatal("the model itself must be read")
	}
	count, all := 0, mutants(opened(tree))
	for i, m := range all {
		if i%stattest.Rounds(17, 1) != 0 {
			continue
		}
		data, err := json.Marshal(closed(m.value))
		if err != nil {
			t.Fatal(err)
		}
		parts := slices.Clone(files[1:])
		parts[index-1].Data = data
		if s.sampled(m.name, slices.Insert(parts, 0, files[0])) {
			count++
		}
	}
	if len(all) < 1000 || count == 0 || count > len(all)/stattest.Rounds(34, 2) {
		t.Errorf("%d of %d models were drawn from; must be some of more than 1,000, and less than half", count, len(all))
	}
}

// TestCraftedParts: parts twice, missing, of another name or of another length.
func TestCraftedParts(t *testing.T) {
	s, files := richModel(t)
	for i, f := range files[1:] {
		for what, c := range map[string]func([]pipeline.File) []pipeline.File{
			"twice":         func(p []pipeline.File) []pipeline.File { return append(p, f) },
			"missing":       func(p []pipeline.File) []pipeline.File { return slices.Delete(p, i, i+1) },
			"empty":         func(p []pipeline.File) []pipeline.File { p[i].Data = nil; return p },
			"renamed":       func(p []pipeline.File) []pipeline.File { p[i].Name = "weights/\x1b]0;x"; return p },
			"a byte longer": func(p []pipeline.File) []pipeline.File { p[i].Data = append(slices.Clone(f.Data), 0); return p },
			"twice as long": func(p []pipeline.File) []pipeline.File {
				p[i].Data = append(slices.Clone(f.Data),
					f.Data...)
				return p
			},
		} {
			if s.sampled(f.Name+" "+what, slices.Insert(c(slices.Clone(files[1:])), 0, files[0])) {
				t.Errorf("a model with %s %s is drawn from", f.Name, what)
			}
		}
	}
	notNumbers := slices.Clone(files[1:])
	for i := range notNumbers {
		if strings.HasPrefix(notNumbers[i].Name, "weights/") {
			notNumbers[i].Data = slices.Repeat([]byte{0xff, 0xff, 0xff, 0x7f}, len(notNumbers[i].Data)/4)
		}
	}
	if !s.sampled("weights that are not numbers", slices.Insert(notNumbers, 0, files[0])) {
		t.Error("a net that diverged was paid for; its rows are poor, and are rows")
	}
	for _, cover := range []string{`{"kind":"\u001b[2J","format":2}`, `{"kind":"dp_wgan","format":9223372036854775807}`,
		`[]`, `{"kind":7}`} {
		if s.sampled(cover, append([]pipeline.File{{Name: "artifact.json", Data: []byte(cover)}}, files[1:]...)) {
			t.Errorf("a model under %s is drawn from", cover)
		}
	}
}

// TestSampleOfAnything: what is no model is named for what it is.
func TestSampleOfAnything(t *testing.T) {
	s := newStudy(t, 400)
	s.write("empty", "")
	s.write("spec", "weir: 1\n")
	stream, err := os.ReadFile("../../runtime/table/testdata/arrow/polars-oldest.arrows")
	s.must(err)
	s.write("table", string(stream))
	s.must(os.Mkdir(s.path("folder"), 0o755))
	r := s.result()
	for _, c := range [][2]string{
		{"empty", "is empty, must be an archive of weir"},
		{"folder", "is a folder, must be a regular file"},
		{"data.csv", "is not a ZIP archive, must be an archive of weir"},
		{"spec", "is not a ZIP archive, must be an archive of weir"},
		{"nowhere", "no such file"},
		{"table", "is an Arrow stream, as weir wrote models until 27 November 2026"},
		{filepath.Join("runs", "parquet"), "is a table in parquet, must be a released model"},
	} {
		path := s.path(c[0])
		if strings.HasSuffix(path, "parquet") {
			path = releasedPath(t, r, "sample.parquet")
		}
		if code, _, errs := s.weir("sample", path); code != exitFailed || !strings.Contains(errs, c[1]) {
			t.Errorf("%s: exit code %d, %q; must be %d with %q", c[0], code, errs, exitFailed, c[1])
		}
		// columns of the table
		if _, _, errs := s.weir("sample", path); strings.Contains(errs, "note") || strings.Contains(errs, "word") {
			t.Errorf("%s: %q quotes columns", c[0], errs)
		}
	}
}

func releasedPath(t *testing.T, r runResult, suffix string) string {
	t.Helper()
	i := slices.IndexFunc(r.Release, func(f string) bool { return strings.HasSuffix(f, suffix) })
	if i < 0 {
		t.Fatalf("no %s in %v", suffix, r.Release)
	}
	return r.Release[i]
}
