//go:build long

package main

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestStabilityIsWritten makes a folder such as testdata/stability/0.1 from the sources and the command lines of the
// newest and holds it to them. WEIR_STABILITY names a version, such as 0.2, whose folder is kept there.
func TestStabilityIsWritten(t *testing.T) {
	newest, err := newestStability()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), minor(nextVersion))
	w := stabilityWriter{earlier{study{t, filepath.Join(t.TempDir(), "study")}, folder, ""}, newest}
	w.write()
	t.Run("read", func(t *testing.T) { open(t, folder).check() })
	if version := os.Getenv("WEIR_STABILITY"); version != "" && !t.Failed() {
		kept := filepath.Join(filepath.Dir(newest), version)
		w.must(os.RemoveAll(kept))
		w.must(os.CopyFS(kept, os.DirFS(folder)))
	}
}

// newestStability returns the folder of the newest version.
func newestStability() (string, error) {
	folders, err := filepath.Glob(stability + "/*")
	if err != nil {
		return "", err
	}
	slices.SortFunc(folders, func(a, b string) int { return compareVersions(filepath.Base(a), filepath.Base(b)) })
	return filepath.Abs(folders[len(folders)-1])
}

// compareVersions orders versions such as 0.9 and 0.10.
func compareVersions(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		i, _ := strconv.Atoi(x)
		j, _ := strconv.Atoi(y)
		return i - j
	})
}

// stabilityWriter writes into its folder what this version makes of the sources in another.
type stabilityWriter struct {
	earlier
	sources string
}

func (w stabilityWriter) write() {
	w.must(os.MkdirAll(filepath.Join(w.folder, "models"), 0o755))
	w.writeStudy()
	w.writeModels()
	w.keep("settings.txt", byKind(settingsNow(w.t)))
	w.t.Run("commands", w.writeLines)
}

// byKind lists sorted settings; what a kind of stage has stands below it, indented.
func byKind(settings []string) string {
	var b strings.Builder
	kind := ""
	for _, path := range settings {
		if rest, is := strings.CutPrefix(path, kind); is && kind != "" {
			b.WriteString("  " + rest + "\n")
			continue
		}
		b.WriteString(path + "\n")
		if kind = ""; strings.HasSuffix(path, ")") {
			kind = path
		}
	}
	return b.String()
}

// keep writes a file of the folder.
func (w stabilityWriter) keep(name, text string) {
	w.must(os.WriteFile(filepath.Join(w.folder, name), []byte(text), 0o644))
}

// written lists the files of the study that people write: all others this version makes of them.
func written() []string {
	return []string{"visits.yaml", "visits.domain.yaml", "visits.csv", "newer.csv", "more.yaml", "sweep.yaml",
		"small.yaml", "broken.yaml", "datapackage.json"}
}

// writeStudy runs the study and leaves out what a run makes anew. The folder where it ran is gone then, as it is for
// whoever reads it: owner files name the ledger of their table by its folder.
func (w stabilityWriter) writeStudy() {
	w.must(os.MkdirAll(w.dir, 0o755))
	for _, name := range written() {
		text, err := os.ReadFile(filepath.Join(w.sources, "study", name))
		w.must(err)
		w.must(os.WriteFile(w.path(name), text, 0o644))
	}
	w.t.Run("study", func(t *testing.T) {
		t.Chdir(w.dir)
		w.prints(t, "lock", "visits.yaml")
		w.prints(t, "run", "visits.yaml", "--locked")
		w.must(os.WriteFile("visits.plan.json", []byte(w.prints(t, "plan", "visits.yaml", "--json")), 0o644))
		w.prints(t, "run", "small.yaml", "--out", "short")
		w.prints(t, "bundle", "latest", "--runs", "short", "-o", "small.bundle.zip")
	})
	w.must(os.RemoveAll(w.path("short")))
	w.must(os.RemoveAll(w.path("runs/cache")))
	w.must(os.Remove(w.path("runs/.gitignore"))) // rows are made up, and git is to have the runs
	w.must(filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".lock") && d.Name() != "weir.lock" {
			err = os.Remove(path)
		}
		return err
	}))
	w.must(os.CopyFS(filepath.Join(w.folder, "study"), os.DirFS(w.dir)))
	w.must(os.RemoveAll(w.dir))
}

// prints runs a command line, which must end well, and returns what it prints.
func (w stabilityWriter) prints(t *testing.T, args ...string) string {
	code, out, errs := command(args...)
	if code != exitDone {
		t.Fatalf("weir %v: exit %d: %s", args, code, errs)
	}
	return out
}

// writeModels keeps a model of each kind that rows are drawn from, and rows of each.
func (w stabilityWriter) writeModels() {
	quick := quickModels()
	for _, kind := range learned(w.t) {
		if kind == "auto" || strings.HasPrefix(kind, "anomaly_") {
			continue // auto releases what another kind does; the study has a detector
		}
		s := modelStudy(w.t, quick[kind], kind, oddTables()["ordinary"])
		code, _, errs := s.run("--insecure-noise-seed", "7")
		models, _ := filepath.Glob(s.path("runs/study/2*/release/*.model"))
		if code != exitDone || len(models) != 1 {
			w.t.Fatalf("%s: exit %d, models %v: %s", kind, code, models, errs)
		}
		text, err := os.ReadFile(models[0])
		w.must(err)
		name := "models/" + kind
		w.keep(name+".model", string(text))
		rows := w.prints(w.t, "sample", filepath.Join(w.folder, name+".model"), "--rows", strconv.Itoa(modelRows))
		w.keep(name+".csv", rows)
	}
	now, err := versionOfKinds()
	w.must(err)
	text, err := json.MarshalIndent(now.Kinds, "", "  ")
	w.must(err)
	w.keep("models/kinds.json", string(text)+"\n")
}

// writeLines runs the command lines of the sources on the study and keeps them with the fields that they print.
func (w stabilityWriter) writeLines(t *testing.T) {
	run := open(t, w.folder)
	run.folder = w.sources
	var b strings.Builder
	for _, line := range run.lines() {
		b.WriteString(line.line + "\n")
		fields := line.print(t)
		for _, field := range slices.Sorted(maps.Keys(fields)) {
			b.WriteString("  " + field + " is " + strings.Join(slices.Sorted(slices.Values(fields[field])), " or ") + "\n")
		}
	}
	w.keep("commands.txt", b.String())
}
