// Command reproduce takes what the specs of papers gave into specs/results, from the sweeps in folders of runs:
//
//	weir run specs:NAME --set dataset.file=FILE --set experiment.repeats=10 --out runs
//	go run ./cmd/weir/reproduce -commit "$(git rev-parse --short HEAD)" runs
//
// It runs at the top of the repository. Of each spec of the inventory it takes the newest sweep, and of that the
// figures which the inventory names at its point of the grid: at the best point of each repeat the figures of that run,
// and of every run the figure that says which is best. A run that is there is replaced, so a sweep that goes on can be
// taken again. Runs of several commits stand side by side, and are averaged: remove the file of a spec whose results
// have changed.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"weir/runtime/experiment"
	"weir/specs/results"
)

func main() {
	commit := flag.String("commit", "", "the commit of the weir that ran")
	target := flag.String("into", "specs/results", "folder of the results")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "reproduce -commit COMMIT [-into FOLDER] RUNS [RUNS ...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *commit == "" || flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := take(*commit, *target, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "reproduce:", err)
		os.Exit(1)
	}
}

func take(commit, dest string, folders []string) error {
	wanted, err := figures()
	if err != nil {
		return err
	}
	for _, folder := range folders {
		used := 0
		for _, spec := range slices.Sorted(maps.Keys(wanted)) {
			values, err := newest(filepath.Join(folder, spec, "sweeps"), spec, commit, wanted[spec])
			if err == nil && len(values) > 0 {
				err = put(filepath.Join(dest, spec+".csv"), values)
			}
			if err != nil {
				return err
			}
			used += len(values)
		}
		if used == 0 {
			return fmt.Errorf("%s: holds no sweep of a spec of the inventory; weir run specs:NAME --set experiment.repeats=N "+
				"--out %[1]s leaves one", folder)
		}
	}
	return nil
}

// figures lists the lines of the inventory that name a figure, by spec.
func figures() (map[string][]results.Line, error) {
	lines, err := results.Lines()
	wanted := map[string][]results.Line{}
	for _, l := range lines {
		if l.Spec != "" && l.Figure != "" {
			wanted[l.Spec] = append(wanted[l.Spec], l)
		}
	}
	return wanted, err
}

// newest returns the figures of the newest sweep of a folder; none where there is no sweep.
func newest(folder, spec, commit string, lines []results.Line) ([]results.Value, error) {
	found, err := filepath.Glob(filepath.Join(folder, "*", "sweep.json"))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	data, err := os.ReadFile(slices.Max(found)) // their folders begin with the time
	if err != nil {
		return nil, err
	}
	var e experiment.Experiment
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("%s: %w", slices.Max(found), err)
	}
	var all []results.Value
	for _, r := range e.Runs {
		all = append(all, valuesOf(e, r, spec, commit, lines)...)
	}
	best := map[string]map[string]bool{} // by lead figure
	for _, l := range lines {
		if l.Lead != "" && best[l.Lead] == nil {
			best[l.Lead] = results.BestRuns(all, l.Lead)
		}
	}
	return slices.DeleteFunc(all, func(v results.Value) bool {
		return !slices.ContainsFunc(lines, func(l results.Line) bool {
			return l.Cell == v.Cell && l.Figure == v.Figure && (l.At == v.At || l.At == results.Best &&
				(v.Figure == l.Lead || best[l.Lead][v.Run]))
		})
	}), nil
}

// valuesOf are the figures of a run that lines name at any point of the grid.
func valuesOf(e experiment.Experiment, r experiment.RunRow, spec, commit string, lines []results.Line) (
	values []results.Value) {
	paths := make([]string, len(e.Grid))
	for i, path := range e.Grid {
		paths[i] = r.Settings[path]
	}
	seconds := 0.
	for _, s := range r.Seconds {
		seconds += s
	}
	seen := map[string]bool{}
	for _, l := range lines {
		if x, is := r.Metrics[l.Figure]; is && !seen[l.Figure] {
			seen[l.Figure] = true
			values = append(values, results.Value{Spec: spec, Commit: commit, Cell: r.Cell, At: strings.Join(paths, " "),
				Run: r.ID, Seed: r.Seed, Figure: l.Figure, Value: x, Seconds: seconds})
		}
	}
	return values
}

// put writes the values beside those that are there.
func put(path string, values []results.Value) error {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var old []results.Value
	if len(data) > 0 {
		if old, err = results.Parse(path, data); err != nil {
			return err
		}
	}
	fmt.Printf("%s: %d values\n", path, len(values))
	return os.WriteFile(path, results.Format(results.Merge(old, values)), 0o644)
}
