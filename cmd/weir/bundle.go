package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"weir/internal/disk"
	"weir/pipeline/words"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime"
	"weir/runtime/bundle"
	"weir/runtime/dataset"
	"weir/runtime/store"
)

const bundleLong = `Put what a run released into one file: its release/ with bill, datasheet and
PRIVACY.md, the lines of the ledger that paid for it, descriptions for catalogues
(Croissant, RO-Crate), and an in-toto statement with the SHA-256 of every file and
what is promised. With --key the statement is signed (DSSE, ed25519); a bundle
that nobody signed proves that it is whole, and not who made it. weir verify
checks it anywhere.

Equal runs, keys and flags give equal bytes. Nothing enters that is not released:
the plan says which files are, and others in release/ are refused. A run that is
not done, or whose noise came from a seed, is refused too; where no epsilon is
proven, or rows stayed in a database, the statement says so. What weir verify
would refuse is not written.

` + namesRun + `

Exit codes: 0 done; 2 usage, a file that is there, or a run that is refused;
4 the release or the ledger is not as the run left it.`

// bundleFlags are the flags of weir bundle.
type bundleFlags struct {
	place                     runPlace
	key, out, ledger, license string
	spec, force, asJSON       bool
}

func bundleCommand(s streams) *cobra.Command {
	var f bundleFlags
	c := &cobra.Command{
		Use:   "bundle RUN",
		Short: "Put a release and a statement of it into one file",
		Long:  bundleLong,
		Example: "  openssl genpkey -algorithm ed25519 -out owner.pem\n" +
			"  openssl pkey -in owner.pem -pubout -out owner.pub\n" +
			"  weir bundle latest --key owner.pem -o cardio.zip --license https://creativecommons.org/licenses/by/4.0/\n" +
			"  weir verify cardio.zip --key owner.pub",
		Args: exactly(1, "RUN"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, s, args[0]) },
	}
	f.place.add(c, "runs")
	c.Flags().StringVarP(&f.out, "out", "o", "", "file to write (default: NAME-ID.bundle.zip)")
	c.Flags().StringVar(&f.key, "key", "", "ed25519 private key that signs, PEM (PKCS #8)")
	c.Flags().StringVar(&f.ledger, "ledger", "", "ledger of the dataset, where it is not where the run left it")
	c.Flags().StringVar(&f.license, "license", "", "licence of the release, by its address, for catalogues")
	c.Flags().BoolVar(&f.spec, "spec", false, "put the spec in, with the paths and places that it names")
	c.Flags().BoolVar(&f.force, "force", false, "overwrite the file of --out")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object")
	return c
}

func (f *bundleFlags) run(c *cobra.Command, s streams, arg string) error {
	dir, err := f.place.find(arg)
	if err != nil {
		return err
	}
	rec, err := readRun(dir)
	if err != nil {
		return err
	}
	if f.out == "" {
		f.out = rec.Name + "-" + rec.ID + ".bundle.zip"
	}
	if err := runtime.Replaceable(f.out, f.force); err != nil {
		return withCode(exitUsage, err)
	}
	b, err := f.gather(dir, rec)
	if err != nil {
		return err
	}
	if err := f.judge(c.Context(), s, b); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if err := (disk.Disk{}).Write(f.out, 0o644, b.Write); err != nil {
		return fmt.Errorf("%s: %w", f.out, err)
	}
	if note := exposedKey(f.key); note != "" {
		fmt.Fprintln(s.err, "note: "+note)
	}
	if f.asJSON {
		return printJSON(s.out, map[string]any{"bundle": f.out, "signed": b.Signed, "statement": b.Statement})
	}
	return printBundle(plainly(s.out), f.out, b)
}

// gather makes the bundle, and signs it where a key is given.
func (f *bundleFlags) gather(dir string, rec *record.Run) (*bundle.Bundle, error) {
	var key ed25519.PrivateKey
	if f.key != "" { // first: what it lacks, no run mends
		var err error
		if key, err = readKey(f.key, bundle.PrivateKey); err != nil {
			return nil, err
		}
	}
	entries, err := f.entries(rec)
	if err != nil {
		return nil, err
	}
	style, err := runtime.StyleOf(rec)
	if err != nil {
		return nil, withCode(exitMismatch, fmt.Errorf("%s: %w", dir, err))
	}
	reg, err := registry()
	if err != nil {
		return nil, err
	}
	b, err := bundle.Gather(bundle.Request{Dir: dir, Record: rec, Ledger: entries, Text: style.CSV, License: f.license,
		Spec: f.spec, Names: reg.FileNames})
	switch {
	case errors.As(err, new(*bundle.RefusedError)):
		return nil, withCode(exitUsage, fmt.Errorf("%s: %w", dir, err))
	case err != nil:
		return nil, withCode(exitMismatch, fmt.Errorf("%s: %w", dir, err))
	case key != nil:
		err = b.Sign(key)
	}
	return b, err
}

// judge refuses a bundle that weir verify would refuse, before it is written. Write finds what changes afterwards.
func (f *bundleFlags) judge(ctx context.Context, s streams, b *bundle.Bundle) error {
	means, err := judging(s, "")
	if err != nil {
		return err
	}
	found, err := b.Judge(ctx, means)
	if err == nil && len(found.Differ) > 0 {
		err = withCode(exitMismatch, fmt.Errorf("weir verify would refuse its bundle, so none is made: %s",
			strings.Join(found.Differ, "; ")))
	}
	return err
}

// entries reads the ledger that paid for a run.
func (f *bundleFlags) entries(rec *record.Run) ([]ledger.Entry, error) {
	path := rec.Dataset.Ledger
	if f.ledger != "" {
		path = f.ledger
	}
	if len(rec.Charges) == 0 {
		return nil, nil
	}
	entries, err := dataset.ReadLedger(path)
	if errors.Is(err, dataset.ErrNoLedger) {
		err = withCode(exitUsage, fmt.Errorf("--ledger: %s: is not an existing ledger, must be the one that the run charged",
			path))
	}
	return entries, err
}

// exposedKey says that git has a private key, or would get it with the next commit, and what to do; "" where neither is
// so.
func exposedKey(path string) string {
	switch {
	case path == "":
		return ""
	case disk.Tracked(path):
		return fmt.Sprintf("--key: %s is a private key and git tracks it: git rm --cached %s, and commit that; once a "+
			"commit of it was published, sign by another key", path, path)
	case disk.Staged(path):
		return fmt.Sprintf("--key: %s is a private key, lies in a git work tree and no .gitignore names it: add the line %s "+
			"to %s before you commit; whoever has it signs as you do", path, filepath.Base(path),
			filepath.Join(filepath.Dir(path), ".gitignore"))
	}
	return ""
}

// mostOfKey is more than a key in PEM holds.
const mostOfKey = 1 << 16

// readKey reads a key of one kind from a file, and quotes nothing of it.
func readKey[K any](path string, parse func([]byte) (K, error)) (key K, err error) {
	text, err := disk.ReadFile(path, mostOfKey)
	if err == nil {
		key, err = parse(text)
	}
	if err != nil {
		err = withCode(exitUsage, fmt.Errorf("--key: %s: %w", path, store.Reason(err)))
	}
	return key, err
}

func printBundle(w io.Writer, path string, b *bundle.Bundle) error {
	p := b.Statement.Predicate
	signed := "no: it proves that it is whole, and not who made it (--key)"
	if b.Signed {
		signed = "yes"
	}
	text := fmt.Sprintf("bundle   %s, %s\npromise  %s\nsigned   %s\n", filepath.ToSlash(path),
		words.Plural(len(b.Statement.Subject), "file"), p.Promise(), signed)
	if stays := p.StaysIn(); stays != "" {
		text += "rows     stayed in " + stays + "\n"
	}
	for _, finding := range p.Findings() {
		text += fmt.Sprintf("%-8s %s: %s\n", finding.Level, finding.Rule, strings.TrimSpace(finding.Message))
	}
	_, err := io.WriteString(w, text)
	return err
}
