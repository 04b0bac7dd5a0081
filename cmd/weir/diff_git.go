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
)

// commitFile is REV:PATH, as git has it: PATH from the top of the repository that the
// current folder lies in.
func commitFile(c *cobra.Command, rev, name string) (words.Side, error) {
	r, err := openRevision(c.Context(), ".", rev)
	if err != nil {
		return words.Side{}, usageOf(c, err)
	}
	return revisionSide(c, r, path.Clean(filepath.ToSlash(name)))
}

// revisionSide is a spec or a ledger of a revision.
func revisionSide(c *cobra.Command, r *gitCommit, name string) (words.Side, error) {
	shown := r.name + ":" + name
	if !strings.HasSuffix(name, dataset.LedgerSuffix) {
		return sideOf(shown, func(t spec.Trial) (*spec.Spec, error) { return r.spec(name, t) })
	}
	entries, err := r.ledger(name)
	if err != nil {
		return words.Side{}, err
	}
	return ledgerOfEntries(c, shown, entries)
}

// revisions are the two sides of a range, or of one revision and the working tree.
func (d *differ) revisions(ctx context.Context, c *cobra.Command, args []string) (a, b words.Side, err error) {
	from, to, isRange := strings.Cut(args[0], "..")
	old, err := openRevision(ctx, args[1], headOr(from, isRange))
	if err != nil {
		return a, b, usageOf(c, err)
	}
	name, err := old.inside(args[1])
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
	now, err := openRevision(ctx, args[1], headOr(to, true))
	if err == nil && parted {
		old, err = old.mergeBase(now)
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
	if errors.Is(err, errRevision) {
		return usage(c, err)
	}
	return err
}
