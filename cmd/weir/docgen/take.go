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
)

// reproduce takes what the specs of papers gave into specs/results, from the sweeps in folders of runs:
//
//	weir run specs:NAME --set dataset.file=FILE --set experiment.repeats=10 --out runs
//	go run ./cmd/weir/docgen reproduce -commit "$(git rev-parse --short HEAD)" runs
//
// It runs at the top of the repository. Of each spec of the inventory it takes the newest sweep, and of that the
// figures which the inventory names at its point of the grid: at the best point of each repeat the figures of that run,
// and of every run the figure that says which is best. A run that is there is replaced, so a sweep that goes on can be
// taken again. Runs of several commits stand side by side, and are averaged: remove the file of a spec whose results
// have changed.
func reproduce(args []string) error {
	flags := flag.NewFlagSet("docgen reproduce -commit COMMIT [-into FOLDER] RUNS [RUNS ...]", flag.ContinueOnError)
	commit := flags.String("commit", "", "the commit of the weir that ran")
	target := flags.String("into", "specs/results", "folder of the results")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *commit == "" || flags.NArg() == 0 {
		return errors.New("reproduce: needs -commit COMMIT and folders of runs")
	}
	return take(*commit, *target, flags.Args())
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
				err = put(filepath.Join(dest, spec+".csv"), values, wanted[spec])
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
func figures() (map[string][]Line, error) {
	lines, err := Lines()
	wanted := map[string][]Line{}
	for _, l := range lines {
		if l.Spec != "" && l.Figure != "" {
			wanted[l.Spec] = append(wanted[l.Spec], l)
		}
	}
	return wanted, err
}

// newest returns the figures of the newest sweep of a folder; none where there is no sweep.
func newest(folder, spec, commit string, lines []Line) ([]Value, error) {
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
	var all []Value
	for _, r := range e.Runs {
		all = append(all, valuesOf(e, r, spec, commit, lines)...)
	}
	best := map[string]map[string]bool{} // by lead figure
	for _, l := range lines {
		if l.Lead != "" && best[l.Lead] == nil {
			best[l.Lead] = BestRuns(all, l.Lead)
		}
	}
	return slices.DeleteFunc(all, func(v Value) bool {
		return !slices.ContainsFunc(lines, func(l Line) bool {
			return l.Cell == v.Cell && l.Figure == v.Figure && (l.At == v.At || l.At == Best &&
				(v.Figure == l.Lead || best[l.Lead][v.Run]))
		})
	}), nil
}

// valuesOf returns the figures of a run that lines name at any point of the grid.
func valuesOf(e experiment.Experiment, r experiment.RunRow, spec, commit string, lines []Line) (
	values []Value) {
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
			values = append(values, Value{Spec: spec, Commit: commit, Cell: r.Cell, At: strings.Join(paths, " "),
				Run: r.ID, Seed: r.Seed, Figure: l.Figure, Value: x, Seconds: seconds})
		}
	}
	return values
}

// put writes the values beside those that are there. Where lines name the best point of a repeat, it refuses a repeat
// of which another run is there, as from parts that overlap: which run had which point cannot be told afterwards.
func put(path string, values []Value, lines []Line) error {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var old []Value
	if len(data) > 0 {
		if old, err = Parse(path, data); err != nil {
			return err
		}
	}
	all := Merge(old, values)
	if slices.ContainsFunc(lines, func(l Line) bool { return l.Lead != "" }) {
		if err := single(path, all); err != nil {
			return err
		}
	}
	fmt.Printf("%s: %d values\n", path, len(values))
	return os.WriteFile(path, Format(all), 0o644)
}

// single refuses two runs of one repeat at one point of the grid.
func single(path string, values []Value) error {
	type point struct {
		cell, at string
		seed     uint64
	}
	runs := map[point]string{}
	for _, v := range values {
		p := point{v.Cell, v.At, v.Seed}
		if other, is := runs[p]; is && other != v.Run {
			return fmt.Errorf("%s: has two runs of the repeat of seed %d, %s and %s, must have one, since its best point "+
				"is taken; run other repeats (experiment.first_repeat), or remove the lines of one", path, v.Seed, other, v.Run)
		}
		runs[p] = v.Run
	}
	return nil
}
