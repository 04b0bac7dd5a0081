package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"weir/pipeline/compile"
	"weir/record"
	"weir/runtime"
	"weir/runtime/dataset"
	"weir/runtime/files"
	"weir/runtime/payment"
)

const verifyLong = `Replay a run with its spec, data and noise key, and compare: every file of its
release byte by byte, files that do not belong there, PRIVACY.md rendered anew,
what run.json claims, and the run's charges in the ledger. Nothing is charged:
the same noise releases nothing new. The run must be done, and needs its kept
noise key (internal/noise.key), its dataset unchanged, the owner file beside it or
the folder of runs that knows it, and the same weir. Nothing is written but to a
folder below TMPDIR, which is removed.

A bundle (weir bundle) is checked where there are neither: its form, every SHA-256,
its documents and ledger lines against its statement, epsilon composed anew from
the mechanisms of the bill, tables against their domain, models by their readers,
with --key the signature, with --spec that plan and bill follow from a spec that you
have. What could not be checked is listed. --offline checks the folder of a run so.

` + namesRun + `

Exit codes: 0 the same bytes, or all that can be checked holds; 1 the replay
failed; 2 usage, or a file that is not a bundle; 4 something differs.`

func verifyCommand(s streams) *cobra.Command {
	var asJSON, offline bool
	var workers int
	var key, spec string
	var place runPlace
	c := &cobra.Command{
		Use:   "verify RUN|BUNDLE",
		Short: "Replay a run and compare its release byte by byte, or check a bundle",
		Long:  verifyLong,
		Example: "  weir verify runs/cardio-quickstart/20261121-052215-74fe39\n  weir verify 20261121-052215-74fe39\n  " +
			"weir verify latest\n  weir verify cardio.zip --key owner.pub\n  weir verify latest --offline",
		Args: exactly(1, "RUN or BUNDLE"),
		RunE: func(c *cobra.Command, args []string) error {
			if isBundle(args[0]) {
				return verifyBundle(c, s, args[0], key, spec, asJSON)
			}
			if key != "" {
				return usage(c, errors.New("--key: is given for a run, must be given with a bundle: no run is signed"))
			}
			if spec != "" {
				return usage(c, errors.New("--spec: is given for a run, must be given with a bundle: a run has its spec"))
			}
			dir, err := place.find(args[0])
			if err != nil {
				return err
			}
			if !there(dir) {
				return withCode(exitUsage, fmt.Errorf("%s: is not there, must be the folder of a run, its id, or latest; "+
					"or the file of a bundle", dir))
			}
			if offline {
				return verifyRunOffline(c, s, dir, asJSON)
			}
			differ, err := replay(c.Context(), s, dir, workers, asJSON)
			if err != nil {
				return err
			}
			if len(differ) > 0 {
				err = withCode(exitMismatch, fmt.Errorf("%s: differs from its replay: %s", dir, strings.Join(differ, "; ")))
			}
			if asJSON {
				return errors.Join(printJSON(s.out, map[string]any{"ok": err == nil, "differ": differ}), silent(err))
			}
			if err == nil {
				_, err = fmt.Fprintf(s.out, "%s: the replay gives the same release, record and charges\n", dir)
			}
			return err
		},
	}
	place.add(c, "out")
	c.Flags().BoolVar(&offline, "offline", false, "check a run without its data, noise key and ledger, as a bundle is")
	c.Flags().StringVar(&key, "key", "", "ed25519 public key, PEM, by which a bundle must be signed")
	c.Flags().StringVar(&spec, "spec", "", "`SPEC` that a bundle must be of, where it does not hold its own")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	c.Flags().IntVar(&workers, "workers", goruntime.GOMAXPROCS(0), "number of goroutines; results do not depend on it")
	return c
}

// replay carries out a recorded run again and lists what differs.
func replay(ctx context.Context, s streams, dir string, workers int, quiet bool) (differ []string, err error) {
	rec, err := readRun(dir)
	if err != nil {
		return nil, err
	}
	if rec.Status != record.Done {
		return nil, withCode(exitMismatch, fmt.Errorf("%s: the run is %s, must be done", dir, rec.Status))
	}
	opts, err := replayOptions(s, dir, rec)
	if err != nil {
		return nil, err
	}
	plan, err := recordedPlan(rec)
	if err != nil {
		return nil, err
	}
	out, remove, err := privateFolder("weir-verify-")
	if err != nil {
		return nil, err
	}
	opts.Out = out
	defer func() { err = errors.Join(err, remove()) }()
	progress := newProgress(s.err, quiet)
	opts.Workers, opts.Progress, opts.Looking = workers, progress, progress.Looking
	result, err := runtime.Run(ctx, plan, opts)
	progress.Wait()
	switch {
	case errors.Is(err, runtime.ErrOtherContent):
		return nil, withCode(exitMismatch, fmt.Errorf("%s: %w", dir, err))
	case errors.Is(err, dataset.ErrUnknownData):
		return nil, withCode(exitUsage, fmt.Errorf("%s: %w", dir, err))
	}
	if err != nil {
		return nil, err
	}
	return runtime.Differences(rec, result.Record, dir)
}

// replayOptions takes everything that a run depended on from its folder.
func replayOptions(s streams, dir string, rec *record.Run) (runtime.Options, error) {
	key, err := payment.LoadKey(filepath.Join(dir, "internal"))
	if err != nil {
		return runtime.Options{}, withCode(exitUsage, fmt.Errorf("%s: without its noise key a run cannot be replayed: %w",
			dir, err))
	}
	if key.Commitment() != rec.KeyCommitment {
		return runtime.Options{}, withCode(exitMismatch, fmt.Errorf("%s: the noise key is not the one that the record "+
			"commits to", dir))
	}
	out := filepath.Dir(filepath.Dir(filepath.Clean(dir)))
	earlier, err := payment.EarlierOf(out, rec)
	if err != nil {
		return runtime.Options{}, withCode(exitUsage, fmt.Errorf("%s: %w", dir, err))
	}
	opts := runtime.Options{Dir: rec.Dir, Replay: &runtime.Replay{Key: key, Earlier: earlier, Dir: dir, Out: out},
		Version: rec.Weir, Build: rec.Build,
		Repeat: rec.Repeat, Log: newLog(s.err, false), Clock: time.Now, Random: rand.Reader}
	if rec.Insecure {
		opts.Insecure = rec.InsecureSeed
	}
	return opts, nil
}

func recordedPlan(rec *record.Run) (*compile.Plan, error) {
	reg, err := registry()
	if err != nil {
		return nil, err
	}
	folder, err := files.OpenFolder(rec.Dir, false)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	spec, err := runtime.ParseSpec("run.json", []byte(rec.Spec), nil, folder, reg)
	if err != nil {
		return nil, err
	}
	return compile.Compile(spec)
}
