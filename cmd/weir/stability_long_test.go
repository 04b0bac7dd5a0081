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
	w.keep("settings.txt", settingsNow(w.t).String())
	w.keep("flags.txt", strings.Join(flagsNow(), "\n")+"\n")
	w.keep("rules.txt", strings.Join(rulesNow(), "\n")+"\n")
	w.t.Run("commands", w.writeLines)
}

// keep writes a file of the folder.
func (w stabilityWriter) keep(name, text string) {
	w.must(os.WriteFile(filepath.Join(w.folder, name), []byte(text), 0o644))
}

// written lists the files of the study that people write: all others this version makes of them.
func written() []string {
	return []string{"visits.yaml", "visits.domain.yaml", "visits.csv", "newer.csv", "more.yaml", "sweep.yaml",
		"small.yaml", "broken.yaml", "datapackage.json", "wards/wards-1.csv", "wards/wards-2.csv",
		"wards/wards.domain.yaml", "wards/proven.yaml", "wards/published.yaml", "wards/unproven.yaml"}
}

// writeStudy runs the study and leaves out what a run makes anew. The folder where it ran is gone then, as it is for
// whoever reads it: owner files name the ledger of their table by its folder.
func (w stabilityWriter) writeStudy() {
	w.must(os.MkdirAll(w.path("wards"), 0o755))
	for _, name := range written() {
		text, err := os.ReadFile(filepath.Join(w.sources, "study", name))
		w.must(err)
		w.must(os.WriteFile(w.path(name), text, 0o644))
	}
	w.repository()
	w.t.Run("study", func(t *testing.T) {
		t.Chdir(w.dir)
		w.prints(t, "lock", "visits.yaml")
		w.prints(t, "run", "visits.yaml", "--locked")
		w.must(os.WriteFile("visits.plan.json", []byte(w.prints(t, "plan", "visits.yaml", "--json")), 0o644))
		w.prints(t, "run", "small.yaml", "--out", "short")
		w.writeEvents()
		w.prints(t, "bundle", "latest", "--runs", "short", "-o", "small.bundle.zip")
	})
	w.t.Run("wards", w.runWards)
	for _, name := range []string{"short", "runs/cache", "runs/.gitignore", ".git", ".gitignore"} {
		w.must(os.RemoveAll(w.path(name))) // rows are made up, and git is to have the runs
	}
	w.prune()
	w.must(os.CopyFS(filepath.Join(w.folder, "study"), os.DirFS(w.dir)))
	w.must(os.RemoveAll(w.dir))
}

// writeEvents keeps what runs tell a program: one that is refused, one that asks, one that is done, and an experiment.
func (w stabilityWriter) writeEvents() {
	var all strings.Builder
	for _, args := range [][]string{{"broken.yaml"}, {"more.yaml"}, {"sweep.yaml", "--yes", "--out", "short"}} {
		_, _, events := command(append([]string{"run", "--events"}, args...)...)
		all.WriteString(events)
	}
	w.keep("events.jsonl", all.String())
}

// runWards makes what is rare in ledgers, owner files and records: units with several rows, a table in parts, published
// and unproven charges, charges that a merge moved, noise of an earlier run, repeats, runs that failed or are a test.
func (w stabilityWriter) runWards(t *testing.T) {
	wards := w.path("wards")
	t.Chdir(wards)
	for _, spec := range []string{"proven.yaml", "published.yaml", "unproven.yaml", "../small.yaml"} {
		w.prints(t, "run", spec)
	}
	w.prints(t, "run", "proven.yaml", "--set", "stages.sample.rows=30")
	w.prints(t, "run", "../more.yaml", "--insecure-noise-seed", "2")
	if code, out, errs := command("run", "proven.yaml", "--set", "stages.sample.where={score: 9}", "--set",
		"stages.sample.max_tries=2"); code != exitFailed {
		t.Fatalf("a run that draws too few rows: exit %d: %s%s", code, out, errs)
	}
	w.branch(t, wards)
	w.prints(t, "run", "proven.yaml", "--set", "seed=4", "--set", "experiment.repeats=2")
	const ledger = "wards-_.csv.weir-ledger.jsonl"
	w.prints(t, "ledger", "merge", ledger, filepath.Join(w.dir, "branch", ledger))
	w.must(os.RemoveAll(filepath.Join(w.dir, "branch")))
}

// branch charges a copy of a folder whose owner file does not find the ledger of the first.
func (w stabilityWriter) branch(t *testing.T, folder string) {
	branch, away := filepath.Join(w.dir, "branch"), filepath.Join(w.dir, "away")
	w.must(os.CopyFS(branch, os.DirFS(folder)))
	w.must(os.Rename(folder, away))
	t.Run("branch", func(t *testing.T) {
		t.Chdir(branch)
		w.prints(t, "run", "proven.yaml", "--set", "seed=5")
	})
	w.must(os.Rename(away, folder))
}

// prune removes locks of processes, and of the runs of the wards all but their records.
func (w stabilityWriter) prune() {
	w.must(filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		inner, pruned := strings.CutPrefix(filepath.ToSlash(path), filepath.ToSlash(w.path("wards/runs/")))
		switch {
		case err != nil || d.IsDir():
			return err
		case strings.HasSuffix(path, ".lock") && d.Name() != "weir.lock",
			pruned && d.Name() != "run.json" && !strings.HasPrefix(inner, "/datasets/"):
			return os.Remove(path)
		}
		return nil
	}))
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
