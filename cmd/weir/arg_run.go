package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"weir/record"
	"weir/runtime/store"
)

// runPlace says where runs lie that are named by their ids.
type runPlace struct{ out string }

// add declares the flag that names the folder of runs.
func (p *runPlace) add(c *cobra.Command, flag string) {
	c.Flags().StringVar(&p.out, flag, "runs", "folder of runs, for a run that is named by its id or as latest")
}

// latestRun is the argument that stands for the newest run that is done.
const latestRun = "latest"

// namesRun is how a run is named, for help texts.
const namesRun = `A run is named by its folder, by its id as weir runs prints it (or its beginning, where
that is the beginning of one run alone), or as latest, the newest run that is done.`

// leastOfID is how many characters of an id name a run at least: its day.
const leastOfID = len("20261121")

// find returns the folder of the run that an argument names: a path, the beginning of an id, or latest. What is none of
// these is returned as it is, for readRun to say so.
func (p runPlace) find(arg string) (string, error) {
	if _, err := os.Lstat(arg); err == nil {
		return arg, nil
	}
	begins := len(arg) >= leastOfID && strings.Trim(arg, "0123456789abcdef-") == ""
	if arg != latestRun && !begins {
		return arg, nil
	}
	runs, err := newestRuns(p.out)
	if err != nil {
		return "", err
	}
	if arg == latestRun {
		return p.latest(runs)
	}
	others := func(dir string) bool { return !strings.HasPrefix(filepath.Base(dir), arg) }
	return p.only(arg, slices.DeleteFunc(runs, others))
}

// all finds the runs that arguments name.
func (p runPlace) all(args []string) ([]string, error) {
	dirs := make([]string, len(args))
	for i, arg := range args {
		dir, err := p.find(arg)
		if err != nil {
			return nil, err
		}
		dirs[i] = dir
	}
	return dirs, nil
}

// model returns the file that an argument names: itself, or the one model that a run has released.
func (p runPlace) model(arg string) (string, error) {
	dir, err := p.find(arg)
	if err != nil {
		return "", err
	}
	rec, err := store.ReadRecord(dir)
	if err != nil {
		return dir, nil // no run: what it is, the reader of models says
	}
	var models []string
	for _, f := range rec.Release {
		if strings.HasSuffix(f.Path, ".model") {
			models = append(models, filepath.Join(dir, f.Path))
		}
	}
	switch len(models) {
	case 0:
		return "", withCode(exitUsage, fmt.Errorf("%s: the run released no model", dir))
	case 1:
		return models[0], nil
	}
	return "", withCode(exitUsage, fmt.Errorf("%s: the run released %d models, must be named as one of %s", dir, len(models),
		strings.Join(models, ", ")))
}

// only returns the one run whose id begins as the argument does.
func (p runPlace) only(arg string, runs []string) (string, error) {
	switch len(runs) {
	case 0:
		return "", withCode(exitUsage, fmt.Errorf("%s: is no file, and the beginning of no id of a run in %s, "+
			"must be one that weir runs prints", arg, p.out))
	case 1:
		return runs[0], nil
	}
	return "", withCode(exitUsage, fmt.Errorf("%s: is the beginning of %d ids of runs in %s, must be of one alone, such as %s",
		arg, len(runs), p.out, filepath.Base(runs[0])))
}

// latest returns the run that began last of those that are done. Ids count whole seconds, records less.
func (p runPlace) latest(runs []string) (string, error) {
	best, found := "", store.Summary{}
	for _, dir := range runs {
		if best != "" && filepath.Base(dir)[:15] != filepath.Base(best)[:15] {
			break
		}
		s, err := store.ReadSummary(dir)
		if err == nil && s.Status == record.Done && (best == "" || s.Started.After(found.Started)) {
			best, found = dir, s
		}
	}
	if best == "" {
		return "", withCode(exitUsage, fmt.Errorf("%s: no run in %s is done", latestRun, p.out))
	}
	return best, nil
}

// newestRuns lists the folders of all runs below out, the newest first.
func newestRuns(out string) ([]string, error) {
	names, err := store.Names(out)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, name := range names {
		found, err := store.Entries(filepath.Join(out, name))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(filepath.Base(b), filepath.Base(a)) })
	return all, nil
}

// readRun reads the record of the run in a folder. OUT/NAME holds the
// runs of a spec and is named by mistake most often, so one of them is proposed.
func readRun(dir string) (*record.Run, error) {
	rec, err := store.ReadRecord(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			err = withCode(exitUsage, fmt.Errorf("%s: is not a run: %w", dir, err))
		}
		return rec, err
	}
	expected := "the folder of one, which holds run.json: OUT/NAME/ID; or its id, or latest"
	if runs, err := store.Runs(dir); err == nil && len(runs) > 0 {
		expected += ", such as " + runs[len(runs)-1]
	}
	return nil, withCode(exitUsage, fmt.Errorf("%s: is not a run, must be %s", dir, expected))
}
