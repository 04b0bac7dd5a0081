// Command reproduce takes what the specs of papers gave into specs/results, from the sweeps in folders of runs:
//
//	weir run specs:NAME --set dataset.file=FILE --set experiment.repeats=10 --out runs
//	go run ./cmd/weir/reproduce -commit "$(git rev-parse --short HEAD)" runs
//
// It runs at the top of the repository. Of each spec of the inventory it takes the newest sweep, and of that the figures
// which the inventory names. A run that is there is replaced, so a sweep that goes on can be taken again. Runs of several
// commits stand side by side, and are averaged: remove the file of a spec whose results have changed.
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

	"weir/record/sweep"
	"weir/specs/results"
)

func main() {
	commit := flag.String("commit", "", "the commit of the weir that ran")
	into := flag.String("into", "specs/results", "folder of the results")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "reproduce -commit COMMIT [-into FOLDER] RUNS [RUNS ...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *commit == "" || flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := take(*commit, *into, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "reproduce:", err)
		os.Exit(1)
	}
}

func take(commit, into string, folders []string) error {
	wanted, err := figures()
	if err != nil {
		return err
	}
	for _, folder := range folders {
		taken := 0
		for _, spec := range slices.Sorted(maps.Keys(wanted)) {
			values, err := newest(filepath.Join(folder, spec, "sweeps"), spec, commit, wanted[spec])
			if err == nil && len(values) > 0 {
				err = put(filepath.Join(into, spec+".csv"), values)
			}
			if err != nil {
				return err
			}
			taken += len(values)
		}
		if taken == 0 {
			return fmt.Errorf("%s: holds no sweep of a spec of the inventory; weir run specs:NAME --set experiment.repeats=N --out %[1]s leaves one", folder)
		}
	}
	return nil
}

// figures lists the figures that the inventory names, by spec.
func figures() (map[string][]string, error) {
	lines, err := results.Lines()
	wanted := map[string][]string{}
	for _, l := range lines {
		if l.Spec != "" && l.Figure != "" && !slices.Contains(wanted[l.Spec], l.Figure) {
			wanted[l.Spec] = append(wanted[l.Spec], l.Figure)
		}
	}
	return wanted, err
}

// newest returns the figures of the newest sweep of a folder; none where there is no sweep.
func newest(folder, spec, commit string, names []string) ([]results.Value, error) {
	found, err := filepath.Glob(filepath.Join(folder, "*", "sweep.json"))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	data, err := os.ReadFile(slices.Max(found)) // their folders begin with the time
	if err != nil {
		return nil, err
	}
	var e sweep.Experiment
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("%s: %w", slices.Max(found), err)
	}
	var values []results.Value
	for _, r := range e.Runs {
		values = append(values, of(e, r, spec, commit, names)...)
	}
	return values, nil
}

func of(e sweep.Experiment, r sweep.Run, spec, commit string, names []string) (values []results.Value) {
	at := make([]string, len(e.Grid))
	for i, path := range e.Grid {
		at[i] = r.Settings[path]
	}
	seconds := 0.
	for _, s := range r.Seconds {
		seconds += s
	}
	for _, name := range names {
		if x, is := r.Metrics[name]; is {
			values = append(values, results.Value{Spec: spec, Commit: commit, Cell: r.Cell, At: strings.Join(at, " "),
				Run: r.ID, Seed: r.Seed, Figure: name, Value: x, Seconds: seconds})
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
