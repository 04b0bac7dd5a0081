package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/plaintext"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/pipeline/words"
	"weir/runtime"
	"weir/runtime/lock"
	"weir/runtime/review"
)

const lockLong = `Write what a spec, its data and weir are now to weir.lock, which lies beside the spec
and is to be committed: one file for all specs of a folder, a sorted line for each part
and stage. "weir run --locked SPEC" then refuses, before anything is charged, where any
of it differs, and names all that does.

Locked are
  part, stage  the spec with every default filled in: a digest for each part, and for
               each stage with its kind and the version of the kind, which is raised
               when results change for equal settings
  weir         the version of weir, or its commit; not the compiler, nor the processor
  dataset      its id and its declared version. Which content that version means is kept
               on the owner's side (in the owner file beside the data and in the folder
               of runs), and is fixed by the first lock: for other content, declare
               another dataset.version
  file         the digest of each further file that is declared public

Where the dataset lies is not locked, so that --set dataset.file=... may differ.

The data is read as a run reads it, to know which dataset it is; nothing is charged.
--check reads no data, for CI: it compares spec and version alone. Where git has the
spec that was locked, in the commit that last changed the lock, settings that differ
are listed too.

A lock with the marks of a conflict is written again by "weir lock" with the specs that
it is about. Lines of specs that are gone are dropped.

Exit codes: 0 done; 2 bad spec or usage; 3 privacy refused; 4 weir.lock is damaged, the
version is locked with other content, or, with --check, something differs.`

// lockFlags are the flags of `weir lock`.
type lockFlags struct {
	spec   specFlags
	out    string
	check  bool
	asJSON bool
}

func lockCommand(s streams) *cobra.Command {
	var f lockFlags
	c := &cobra.Command{
		Use:     "lock SPEC [SPEC ...]",
		Short:   "Fix spec, data and version for weir run --locked",
		Long:    lockLong,
		Example: "  weir lock study/pipeline.yaml\n  weir run --locked study/pipeline.yaml\n  weir lock --check study/*.yaml",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return nil
			}
			return exactly(1, "SPEC or more")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error { return f.all(c, s, args) },
	}
	f.spec.add(c)
	c.Flags().StringVar(&f.out, "out", "runs", "folder of runs, which knows the datasets")
	c.Flags().BoolVar(&f.check, "check", false, "write nothing and read no data: exit 4 where spec or version differ "+
		"from weir.lock")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object")
	return c
}

// lockedSpec is what became of one spec.
type lockedSpec struct {
	Spec    string            `json:"spec"`
	Lock    string            `json:"lock"`
	New     bool              `json:"new"`     // the lock had no lines of it
	Differs []lock.Difference `json:"differs"` // from what the lock said before
	// Settings differ from the spec of Commit, which last changed the lock and has the spec that was locked; none where
	// git has no such commit.
	Settings []words.Change `json:"settings,omitempty"`
	Commit   string         `json:"commit,omitempty"`
}

// settingsText lists the settings that differ, a line each.
func (l lockedSpec) settingsText() string {
	if len(l.Settings) == 0 {
		return ""
	}
	text := fmt.Sprintf("\nsettings that differ from those of commit %s, which were locked:", l.Commit)
	for _, change := range l.Settings {
		text += "\n  " + plaintext.Text(change.Line())
	}
	return text
}

// compareSettings fills in which settings differ from the spec that was locked, where git still has it.
func (l *asLocked) compareSettings(ctx context.Context, arg string, plan *compile.Plan) {
	if len(l.done.Differs) == 0 || l.done.New {
		return
	}
	commit, old, err := l.committed(ctx, arg)
	if err != nil {
		return // hashes are told without git
	}
	before, errBefore := sideOf(commit.Name, old)
	after, errAfter := sideOf(arg, plan.Spec)
	if errors.Join(errBefore, errAfter) != nil {
		return
	}
	if report, err := words.Compare(before, after); err == nil {
		l.done.Settings, l.done.Commit = report.Settings, commit.Name
	}
}

// committed returns the commit that last changed the lock, and the spec that it has, which is the one that was locked.
func (l *asLocked) committed(ctx context.Context, arg string) (*review.Commit, *spec.Spec, error) {
	head, err := review.OpenCommit(ctx, arg, "HEAD")
	if err != nil {
		return nil, nil, err
	}
	file, errFile := head.Inside(l.Path)
	name, errName := head.Inside(arg)
	reg, errKinds := registry()
	if err := errors.Join(errFile, errName, errKinds); err != nil {
		return nil, nil, err
	}
	last, err := head.LastChanging(file)
	if err != nil {
		return nil, nil, err
	}
	old, err := last.Spec(name, reg)
	if err != nil {
		return nil, nil, err
	}
	plan, err := compile.Compile(old)
	if err != nil {
		return nil, nil, err
	}
	if held, err := l.SamePlan(plan); err != nil || !held {
		return nil, nil, errors.Join(err, fmt.Errorf("%s: is not the spec that was locked", name))
	}
	return last, old, nil
}

// all goes on after a spec that cannot be locked, so that everything is told at once.
func (f *lockFlags) all(c *cobra.Command, s streams, args []string) error {
	var done []lockedSpec
	var errs []error
	for _, arg := range args {
		l, err := f.one(c, s, arg, args)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		done = append(done, l.done)
		if f.check && len(l.done.Differs) > 0 {
			refusal := l.Refusal(l.done.Differs)
			errs = append(errs, lockCode(fmt.Errorf("%w%s", refusal, l.done.settingsText())))
		}
	}
	if err := f.print(plainly(s.out), done); err != nil {
		return err
	}
	return errors.Join(errs...)
}

// asLocked is a spec beside its lock, and what became of it.
type asLocked struct {
	*lock.Spec
	done lockedSpec
}

// one locks a spec, or compares it with its lock.
func (f *lockFlags) one(c *cobra.Command, s streams, arg string, args []string) (l asLocked, err error) {
	plan, err := f.spec.compile(arg)
	if err != nil {
		return l, err
	}
	if f.check {
		args = nil
	}
	if l.Spec, err = openLock(arg, plan, args); err != nil {
		return l, err
	}
	l.done = lockedSpec{Spec: arg, Lock: l.Path, New: len(l.Was) == 0}
	if f.check {
		l.done.Differs = l.Unread()
		l.compareSettings(c.Context(), arg, plan)
		return l, nil
	}
	data, err := runtime.ReadData(c.Context(), plan, runtime.Options{Disk: diskOf(c, s), Out: f.out, Dir: f.spec.dir(arg),
		Confine: f.spec.confine,
		Log:     newLog(s.err, false), Looking: newProgress(s.err, true).Looking, Clock: time.Now, Random: rand.Reader})
	if err == nil {
		err = withCode(exitMismatch, data.KeepLock())
	}
	if err != nil {
		return l, fmt.Errorf("%s: %w", arg, err)
	}
	if l.done.Differs, err = l.Write(data); err == nil {
		l.compareSettings(c.Context(), arg, plan)
	}
	return l, err
}

// openLock opens the lock beside a spec; rewritten are the specs whose lines are written again.
func openLock(arg string, plan *compile.Plan, rewritten []string) (*lock.Spec, error) {
	l, err := lock.Open(arg, plan, thisVersion().Weir, rewritten)
	return l, lockCode(err)
}

// lockCode gives errors of a lock their exit code.
func lockCode(err error) error {
	var mismatch *lock.MismatchError
	switch {
	case errors.Is(err, lock.ErrBuiltIn):
		return withCode(exitUsage, err)
	case errors.As(err, &mismatch):
		return withCode(exitMismatch, err)
	}
	return err
}

func (f *lockFlags) print(w io.Writer, done []lockedSpec) error {
	if f.asJSON {
		return printJSON(w, map[string]any{"check": f.check, "specs": done})
	}
	for _, l := range done {
		what := "written, as it was before"
		switch {
		case f.check && len(l.Differs) > 0:
			continue // the error says how
		case f.check:
			what = "spec and version are as locked; the data was not read"
		case l.New:
			what = "written, for the first time"
		case len(l.Differs) > 0:
			what = "written; what differs from before:" + lock.Text(l.Differs) + l.settingsText()
		}
		if _, err := fmt.Fprintf(w, "%s: %s: %s\n", l.Lock, l.Spec, what); err != nil {
			return err
		}
	}
	return nil
}

// openLock opens the lock of a run: without --locked a lock is ignored. Noise from a seed leaves no
// mark on the owner's side, so that nobody could tell the content.
func (f *runFlags) openLock(c *cobra.Command, arg string, plan *compile.Plan) (err error) {
	if !f.locked {
		return nil
	}
	if c.Flags().Changed("insecure-noise-seed") {
		return usage(c, errors.New("--locked: must be given without --insecure-noise-seed, which does not look which "+
			"dataset it reads"))
	}
	if f.lock, err = openLock(arg, plan, nil); err == nil && len(f.lock.Was) == 0 {
		return lockCode(f.lock.Refusal(nil))
	}
	return err
}

// alsoLocked adds to the error of a run what was found to differ before its data could be compared.
func (f *runFlags) alsoLocked(err error) error {
	if f.lock == nil || err == nil {
		return err
	}
	if differs := lockCode(f.lock.Unasked()); differs != nil {
		return errors.Join(err, differs)
	}
	return err
}
