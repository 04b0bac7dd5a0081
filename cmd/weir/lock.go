package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/disk"
	"weir/pipeline/compile"
	"weir/runtime"
	"weir/runtime/lock"
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
--check reads no data, for CI: it compares spec and version alone.

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
		done = append(done, lockedSpec{Spec: arg, Lock: l.path, New: len(l.was) == 0, Differs: l.differs})
		if f.check && len(l.differs) > 0 {
			errs = append(errs, l.refusal(l.differs, nil))
		}
	}
	if err := f.print(plainly(s.out), done); err != nil {
		return err
	}
	return errors.Join(errs...)
}

// one locks a spec, or compares it with its lock.
func (f *lockFlags) one(c *cobra.Command, s streams, arg string, args []string) (*lockOf, error) {
	plan, err := f.spec.compile(arg)
	if err != nil {
		return nil, err
	}
	if f.check {
		l, err := openLock(arg, plan, nil)
		if err == nil {
			l.differs = lock.Compare(l.withoutData(), l.now)
		}
		return l, err
	}
	l, err := openLock(arg, plan, args)
	if err != nil {
		return nil, err
	}
	data, err := runtime.ReadData(c.Context(), plan, runtime.Options{Disk: diskOf(c, s), Out: f.out, Dir: f.spec.dir(arg),
		Confine: f.spec.confine,
		Log:     newLog(s.err, false), Looking: newProgress(s.err, true).Looking, Clock: time.Now, Random: rand.Reader})
	if err == nil {
		err = withCode(exitMismatch, data.KeepLock())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", arg, err)
	}
	return l, l.write(data)
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
			what = "written; what differs from before:" + lock.Text(l.Differs)
		}
		if _, err := fmt.Fprintf(w, "%s: %s: %s\n", l.Lock, l.Spec, what); err != nil {
			return err
		}
	}
	return nil
}

// lockOf is a spec beside its lines in weir.lock.
type lockOf struct {
	arg, spec, path string
	all             []lock.Entry // of the whole file
	was             []lock.Entry // of this spec
	now             []lock.Entry // as far as it is known without data
	differs         []lock.Difference
	asked           atomic.Bool // the data has been compared, by one of an experiment's runs at least
}

// openLock is asked by a run: without --locked a lock is ignored. Noise from a seed leaves no
// mark on the owner's side, so that nobody could tell the content.
func (f *runFlags) openLock(c *cobra.Command, arg string, plan *compile.Plan) (err error) {
	if !f.locked {
		return nil
	}
	if c.Flags().Changed("insecure-noise-seed") {
		return usage(c, errors.New("--locked: must be given without --insecure-noise-seed, which does not look which "+
			"dataset it reads"))
	}
	if f.lock, err = openLock(arg, plan, nil); err == nil && len(f.lock.was) == 0 {
		return f.lock.refusal(nil, nil)
	}
	return err
}

// openLock reads the lock beside a spec. Where lines are to be written again, named by
// their specs, what is wrong with them may be so; a lock that is not there has no lines.
func openLock(arg string, plan *compile.Plan, rewritten []string) (*lockOf, error) {
	if strings.HasPrefix(arg, "specs:") {
		return nil, withCode(exitUsage, fmt.Errorf("%s: is built in and lies in no folder, must be a file for a lock to "+
			"lie beside it", arg))
	}
	l := &lockOf{arg: arg, spec: filepath.Base(arg), path: filepath.Join(filepath.Dir(arg), lock.File)}
	text, err := disk.ReadFile(l.path, lock.MaxBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, withCode(exitMismatch, err)
	}
	all, problems := lock.Parse(string(text))
	if err := lock.Damage(l.path, problems, sameFolder(arg, rewritten)...); err != nil {
		return nil, withCode(exitMismatch, fmt.Errorf("%w\nwrite the lines again with weir lock and the specs that they "+
			"are of", err))
	}
	l.all, l.was = all, lock.Of(all, l.spec)
	l.now, err = lock.Planned(l.spec, plan, thisVersion().Weir)
	return l, err
}

// sameFolder are the file names of those specs that lie in the folder of one of them.
func sameFolder(arg string, specs []string) (names []string) {
	for _, s := range specs {
		if filepath.Dir(s) == filepath.Dir(arg) {
			names = append(names, filepath.Base(s))
		}
	}
	return names
}

// withoutData are the locked lines that can be compared without data.
func (l *lockOf) withoutData() []lock.Entry {
	return slices.DeleteFunc(slices.Clone(l.was), func(e lock.Entry) bool {
		return slices.Contains([]string{lock.Dataset, lock.Public, lock.Program}, e.What)
	})
}

// withData returns the lines of the spec with the lines of its data.
func (l *lockOf) withData(data runtime.Data) []lock.Entry {
	list := append(slices.Clone(l.now), lock.Entry{Spec: l.spec, What: lock.Dataset, Is: []string{data.ID, data.Version}})
	if data.Program != "" {
		list = append(list, lock.Entry{Spec: l.spec, What: lock.Program, Names: []string{data.Program},
			Is: []string{data.ProgramVersion}})
	}
	for _, f := range data.Files {
		e := lock.Entry{Spec: l.spec, What: lock.Public, Names: []string{f.Stage, path.Base(filepath.ToSlash(f.Path))},
			Is: []string{f.Digest}}
		if !slices.ContainsFunc(list, func(o lock.Entry) bool { return o.Name() == e.Name() && o.Value() == e.Value() }) {
			list = append(list, e)
		}
	}
	return list
}

// write writes the spec's lines, and drops the lines of specs that are gone.
func (l *lockOf) write(data runtime.Data) error {
	current := l.withData(data)
	l.differs = lock.Compare(l.was, current)
	all := slices.DeleteFunc(slices.Clone(l.all), func(e lock.Entry) bool {
		_, err := os.Lstat(filepath.Join(filepath.Dir(l.path), filepath.Base(e.Spec)))
		return e.Spec == l.spec || errors.Is(err, fs.ErrNotExist)
	})
	return disk.Disk{}.WriteBytes(l.path, 0o644, []byte(lock.Format(append(all, current...))))
}

// check refuses a run that is not as locked; it is asked before the run begins.
func (l *lockOf) check(data runtime.Data) error {
	l.asked.Store(true)
	differs := lock.Compare(l.was, l.withData(data))
	var content error
	if !slices.ContainsFunc(differs, func(d lock.Difference) bool { return d.Name == lock.Dataset }) {
		content = data.CheckLock()
	}
	if len(differs) == 0 && content == nil {
		return nil
	}
	return l.refusal(differs, content)
}

// also adds to the error of a run what was found to differ before its data could be compared.
func (l *lockOf) also(err error) error {
	if l == nil || l.asked.Load() || err == nil {
		return err
	}
	differs := lock.Compare(l.withoutData(), l.now)
	if len(differs) == 0 {
		return err
	}
	return errors.Join(err, l.refusal(differs, nil))
}

// refusal says all that differs, and how it is accepted.
func (l *lockOf) refusal(differs []lock.Difference, content error) error {
	text := fmt.Sprintf("%s: %s is not as locked:%s", l.path, l.spec, lock.Text(differs))
	switch {
	case len(l.was) == 0:
		text = fmt.Sprintf("%s: has no lines of %s", l.path, l.spec)
	case content != nil:
		return withCode(exitMismatch, fmt.Errorf("%s\n  %w; then accept it with: weir lock %s", text, content, l.arg))
	}
	return withCode(exitMismatch, fmt.Errorf("%s\naccept it with: weir lock %s", text, l.arg))
}
