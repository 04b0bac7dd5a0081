package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/words"
	"weir/record"
	"weir/runtime"
	"weir/runtime/bundle"
	"weir/stages/model/artifact"
)

// isBundle reports whether an argument of weir verify is a file, which no run is.
func isBundle(arg string) bool {
	info, err := os.Stat(arg)
	return err == nil && info.Mode().IsRegular()
}

// verifyBundle checks a bundle without data, noise key and ledger.
func verifyBundle(c *cobra.Command, s streams, path, key, spec string, asJSON bool) error {
	means, err := judging(s, key)
	if err == nil && spec != "" {
		means.Spec, err = compiledSpec(spec)
	}
	if err != nil {
		return err
	}
	b, err := bundle.Open(path)
	if err != nil {
		return withCode(exitUsage, fmt.Errorf("%s: %w", path, err))
	}
	defer b.Close()
	found, err := b.Judge(c.Context(), means)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return printJudgement(s, path, b, found, asJSON)
}

// compiledSpec compiles a spec that a bundle should be of.
func compiledSpec(arg string) (*bundle.Compiled, error) {
	plan, err := new(specFlags).compile(arg)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(plan.Plan)
	return &bundle.Compiled{Name: arg, Digest: plan.Digest, Plan: text}, err
}

// verifyRunOffline checks the folder of a run without data, noise key and ledger.
func verifyRunOffline(c *cobra.Command, s streams, dir string, asJSON bool) error {
	rec, err := readRun(dir)
	if err != nil {
		return err
	}
	if rec.Status != record.Done {
		return withCode(exitMismatch, fmt.Errorf("%s: the run is %s, must be done", dir, rec.Status))
	}
	means, err := judging(s, "")
	if err != nil {
		return err
	}
	b, found, err := judgedRun(c.Context(), dir, rec, means)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return printJudgement(s, dir, b, found, asJSON)
}

// judgedRun judges a finished run by its folder.
func judgedRun(ctx context.Context, dir string, rec *record.Run, means bundle.Means) (b *bundle.Bundle,
	found bundle.Judgement, err error) {
	style, err := runtime.StyleOf(rec)
	if err == nil {
		b, err = bundle.OfRun(bundle.Request{Dir: dir, Record: rec, Text: style.CSV, Names: means.Names})
	}
	if err != nil {
		return nil, found, withCode(exitMismatch, err)
	}
	found, err = b.JudgeRun(ctx, means)
	return b, found, err
}

// judging returns what a check needs beside the bundle.
func judging(s streams, key string) (bundle.Means, error) {
	reg, err := registry()
	if err != nil {
		return bundle.Means{}, err
	}
	means := bundle.Means{Build: s.build(), Names: reg.FileNames,
		Model: func(ctx context.Context, files []pipeline.File) error { return readsModel(ctx, files, reg.Readers()) },
		Plan:  func(text []byte) (string, []byte, error) { return planned(text, reg) }}
	if key != "" {
		means.Key, err = readKey(key, bundle.PublicKey)
	}
	return means, err
}

// planned compiles a canonical spec, which has its domains in it and needs no file.
func planned(text []byte, reg *pipeline.Registry) (digest string, plan []byte, err error) {
	none := func(name string) ([]byte, error) { return nil, fmt.Errorf("%s: is not in the bundle", name) }
	parsed, err := runtime.ParseSpecFrom("spec.yaml", text, nil, none, reg)
	if err != nil {
		return "", nil, err
	}
	compiled, err := compile.Compile(parsed)
	if err != nil {
		return "", nil, err
	}
	plan, err = json.Marshal(compiled.Plan)
	return compiled.Digest, plan, err
}

// readsModel reads a released model or detector.
func readsModel(ctx context.Context, files []pipeline.File, readers pipeline.Readers) error {
	h := pipeline.Header{Form: pipeline.FormModel, Class: pipeline.Released}
	_, err := artifact.Read[artifact.Model](ctx, pipeline.WriteFiles(h, files), readers)
	if err == nil {
		return nil
	}
	if _, other := artifact.Read[artifact.Scorer](ctx, pipeline.WriteFiles(h, files), readers); other == nil {
		return nil
	}
	return err
}

// doubt goes before what a release states of itself, where the check refuses it, be it for another key or spec than the
// one that was given: a reader of one line is warned.
func doubt(found bundle.Judgement) string {
	if len(found.Differ) == 0 {
		return ""
	}
	return fmt.Sprintf("REFUSED, for %s below. It states: ", words.Plural(len(found.Differ), "reason"))
}

// printJudgement prints what was found, and errs where something differs.
func printJudgement(s streams, path string, b *bundle.Bundle, found bundle.Judgement, asJSON bool) error {
	var err error
	if len(found.Differ) > 0 {
		err = withCode(exitMismatch, fmt.Errorf("%s: %s", path, strings.Join(found.Differ, "; ")))
	}
	if asJSON {
		return errors.Join(printJSON(s.out, struct {
			OK bool `json:"ok"`
			bundle.Judgement
			Statement bundle.Statement `json:"statement"`
		}{err == nil, found, b.Statement}), silent(err))
	}
	p := b.Statement.Predicate
	text := fmt.Sprintf("%s%s\nrun %s of %s, spec %s, dataset %s version %s\n", doubt(found), p.Promise(), p.Run, p.Name,
		p.SpecDigest, p.Dataset.ID, p.Dataset.Version)
	for _, part := range []struct {
		title string
		lines []string
	}{{"checked", found.Holds}, {"differs", found.Differ}, {"not checked", found.Unchecked}} {
		for i, line := range part.lines {
			if i == 0 {
				text += "\n" + part.title + "\n"
			}
			text += "  " + line + "\n"
		}
	}
	if _, errPrint := io.WriteString(plainly(s.out), text); errPrint != nil {
		return errPrint
	}
	return err
}
