package main

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"weir/pipeline/spec"
	"weir/pipeline/words"
	"weir/runtime/dataset"
	"weir/runtime/revision"
)

// commitFile is REV:PATH, as git has it: PATH from the top of the repository that the
// current folder lies in.
func commitFile(c *cobra.Command, rev, name string) (words.Side, error) {
	r, err := revision.Open(c.Context(), ".", rev)
	if err != nil {
		return words.Side{}, usageOf(c, err)
	}
	return revisionSide(c, r, path.Clean(filepath.ToSlash(name)))
}

// revisionSide is a spec or a ledger of a revision.
func revisionSide(c *cobra.Command, r *revision.Commit, name string) (words.Side, error) {
	reg, err := registry()
	if err != nil {
		return words.Side{}, err
	}
	shown := r.Name + ":" + name
	if !strings.HasSuffix(name, dataset.LedgerSuffix) {
		return sideOf(shown, func(t spec.Trial) (*spec.Spec, error) { return r.Spec(name, t, reg) })
	}
	entries, err := r.Ledger(name)
	if err != nil {
		return words.Side{}, err
	}
	return ledgerOfEntries(c, shown, entries)
}

// revisions are the two sides of a range, or of one revision and the working tree.
func (d *differ) revisions(ctx context.Context, c *cobra.Command, args []string) (a, b words.Side, err error) {
	from, to, isRange := strings.Cut(args[0], "..")
	old, err := revision.Open(ctx, args[1], headOr(from, isRange))
	if err != nil {
		return a, b, usageOf(c, err)
	}
	name, err := old.Inside(args[1])
	if err != nil {
		return a, b, err
	}
	if !isRange {
		if a, err = revisionSide(c, old, name); err == nil {
			b, err = d.side(c, args[1])
		}
		return a, b, err
	}
	to, parted := strings.CutPrefix(to, ".")
	now, err := revision.Open(ctx, args[1], headOr(to, true))
	if err == nil && parted {
		old, err = old.MergeBase(now)
	}
	if err != nil {
		return a, b, usageOf(c, err)
	}
	if a, err = revisionSide(c, old, name); err == nil {
		b, err = revisionSide(c, now, name)
	}
	return a, b, err
}

// headOr is HEAD where a range leaves an end out, as git has it.
func headOr(rev string, isRange bool) string {
	if rev == "" && isRange {
		return "HEAD"
	}
	return rev
}

// usageOf points at the help where a revision is not one.
func usageOf(c *cobra.Command, err error) error {
	if errors.Is(err, revision.ErrRevision) {
		return usage(c, err)
	}
	return err
}
