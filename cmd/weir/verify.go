package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"sort"
	"time"

	"github.com/spf13/cobra"

	"weir/pipeline"
	"weir/record"
	"weir/runtime"
	"weir/stages"
)

const verifyLong = `Replay a run with its spec, data and noise key, and compare every file of its
release, byte by byte. Nothing is charged: the same noise releases nothing new.
The run needs its kept noise key (internal/noise.key) and its dataset unchanged.

Exit codes: 0 the same bytes; 1 the replay failed; 2 usage; 4 a file differs.`

func verifyCommand(s streams) *cobra.Command {
	var asJSON bool
	var workers int
	c := &cobra.Command{
		Use:     "verify RUN",
		Short:   "Replay a run and compare its release byte by byte",
		Long:    verifyLong,
		Example: "  weir verify runs/cardio-quickstart/20261121-052215-74fe39",
		Args:    exactly(1, "RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			differ, err := replay(c.Context(), s, args[0], workers, asJSON)
			if err != nil {
				return err
			}
			err = nil
			if len(differ) > 0 {
				err = withCode(exitMismatch, fmt.Errorf("%s: these files differ from the replay: %v", args[0], differ))
			}
			if asJSON {
				return errors.Join(printJSON(s.out, map[string]any{"ok": err == nil, "differ": differ}), silent(err))
			}
			if err == nil {
				_, err = fmt.Fprintf(s.out, "%s: the replay gives the same release\n", args[0])
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	c.Flags().IntVar(&workers, "workers", goruntime.GOMAXPROCS(0), "goroutines; results do not depend on it")
	return c
}

// replay carries out a recorded run again and lists the files that differ.
func replay(ctx context.Context, s streams, dir string, workers int, quiet bool) ([]string, error) {
	rec, err := readRun(dir)
	if err != nil {
		return nil, withCode(exitUsage, err)
	}
	key, err := runtime.LoadKey(filepath.Join(dir, "internal"))
	if err != nil {
		return nil, withCode(exitUsage, fmt.Errorf("%s: without its noise key a run cannot be replayed: %w", dir, err))
	}
	if key.Commitment() != rec.KeyCommitment {
		return nil, withCode(exitMismatch, fmt.Errorf("%s: the noise key is not the one that the record commits to", dir))
	}
	plan, err := recordedPlan(rec)
	if err != nil {
		return nil, err
	}
	out, err := os.MkdirTemp("", "weir-verify-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(out)
	progress := newProgress(s.err, quiet)
	result, err := runtime.Run(ctx, plan, runtime.Options{Out: out, Dir: rec.Dir, Workers: workers, Replay: &key, Version: rec.Weir,
		Repeat: rec.Repeat, Log: newLog(s.err, false), Progress: progress, Clock: time.Now, Random: rand.Reader})
	progress.Wait()
	if err != nil {
		return nil, err
	}
	if result.Record.Dataset.Digest != rec.Dataset.Digest {
		return nil, withCode(exitMismatch, fmt.Errorf("%s: the dataset has changed since the run", dir))
	}
	return differing(rec, result.Record, dir), nil
}

func readRun(dir string) (*record.Run, error) {
	data, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		return nil, err
	}
	var rec record.Run
	if err := json.Unmarshal(data, &rec); err != nil {
		return nil, fmt.Errorf("%s: is no record of a run: %w", filepath.Join(dir, "run.json"), err)
	}
	return &rec, nil
}

func recordedPlan(rec *record.Run) (*pipeline.Plan, error) {
	reg, err := stages.Registry()
	if err != nil {
		return nil, err
	}
	folder, err := runtime.OpenFolder(rec.Dir, false)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	spec, err := runtime.ParseSpec("run.json", []byte(rec.Spec), nil, folder, reg)
	if err != nil {
		return nil, err
	}
	return pipeline.Compile(spec)
}

// differing compares what was recorded, what the replay made, and what lies in
// the release now. Pages that name the run itself are left out.
func differing(old, new *record.Run, dir string) []string {
	digests := map[string]string{}
	for _, f := range new.Release {
		digests[f.Path] = f.SHA256
	}
	differ := []string{}
	for _, f := range old.Release {
		if filepath.Base(f.Path) == "PRIVACY.md" {
			continue
		}
		now, err := runtime.FileDigest(filepath.Join(dir, f.Path))
		if err != nil || now != f.SHA256 || digests[f.Path] != f.SHA256 {
			differ = append(differ, f.Path)
		}
	}
	sort.Strings(differ)
	return differ
}
