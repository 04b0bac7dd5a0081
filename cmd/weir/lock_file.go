package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"weir/internal/disk"
	"weir/pipeline/compile"
	"weir/runtime"
	"weir/runtime/lock"
)

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
		return usage(c, errors.New("--locked: must be given without --insecure-noise-seed, which does not look which dataset it reads"))
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
		return nil, withCode(exitUsage, fmt.Errorf("%s: is built in and lies in no folder, must be a file for a lock to lie beside it", arg))
	}
	l := &lockOf{arg: arg, spec: filepath.Base(arg), path: filepath.Join(filepath.Dir(arg), lock.File)}
	text, err := disk.ReadFile(l.path, lock.MaxBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, withCode(exitMismatch, err)
	}
	all, problems := lock.Parse(string(text))
	if err := lock.Damage(l.path, problems, sameFolder(arg, rewritten)...); err != nil {
		return nil, withCode(exitMismatch, fmt.Errorf("%w\nwrite the lines again with weir lock and the specs that they are of", err))
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

// with are the lines of the spec with those of its data.
func (l *lockOf) with(data runtime.Data) []lock.Entry {
	list := append(slices.Clone(l.now), lock.Entry{Spec: l.spec, What: lock.Dataset, Is: []string{data.ID, data.Version}})
	if data.Program != "" {
		list = append(list, lock.Entry{Spec: l.spec, What: lock.Program, Names: []string{data.Program}, Is: []string{data.ProgramVersion}})
	}
	for _, f := range data.Files {
		e := lock.Entry{Spec: l.spec, What: lock.Public, Names: []string{f.Stage, path.Base(filepath.ToSlash(f.Path))}, Is: []string{f.Digest}}
		if !slices.ContainsFunc(list, func(o lock.Entry) bool { return o.Name() == e.Name() && o.Value() == e.Value() }) {
			list = append(list, e)
		}
	}
	return list
}

// write writes the spec's lines, and drops those of specs that are gone.
func (l *lockOf) write(data runtime.Data) error {
	now := l.with(data)
	l.differs = lock.Compare(l.was, now)
	all := slices.DeleteFunc(slices.Clone(l.all), func(e lock.Entry) bool {
		_, err := os.Lstat(filepath.Join(filepath.Dir(l.path), filepath.Base(e.Spec)))
		return e.Spec == l.spec || errors.Is(err, fs.ErrNotExist)
	})
	return disk.Disk{}.WriteBytes(l.path, 0o644, []byte(lock.Format(append(all, now...))))
}

// check refuses a run that is not as locked; it is asked before the run begins.
func (l *lockOf) check(data runtime.Data) error {
	l.asked.Store(true)
	differs := lock.Compare(l.was, l.with(data))
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
