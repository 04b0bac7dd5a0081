package lock

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

	"weir/internal/disk"
	"weir/pipeline/compile"
	"weir/runtime"
)

// Spec is a spec beside its lines in the lock of its folder.
type Spec struct {
	Path string  // of the lock
	Was  []Entry // its lines; none: the lock has no lines of it

	arg, name string
	all       []Entry     // of the whole file
	planned   []Entry     // what it is now, as far as that is known without data
	asked     atomic.Bool // the data has been compared, by one of an experiment's runs at least
}

// ErrBuiltIn is returned for a spec that lies in no folder.
var ErrBuiltIn = errors.New("is built in and lies in no folder, must be a file for a lock to lie beside it")

// MismatchError says that a lock is damaged, or that something is not as it was locked.
type MismatchError struct{ Err error }

func (e *MismatchError) Error() string { return e.Err.Error() }
func (e *MismatchError) Unwrap() error { return e.Err }

// Open reads the lock beside the spec at path arg, whose plan and version of weir are what is held against it. Where
// lines are to be written again, named by the paths of their specs, what is wrong with them may be so. A lock that is
// not there has no lines; one that is damaged is a MismatchError.
func Open(arg string, plan *compile.Plan, weir string, rewritten []string) (*Spec, error) {
	if strings.HasPrefix(arg, "specs:") {
		return nil, fmt.Errorf("%s: %w", arg, ErrBuiltIn)
	}
	l := &Spec{arg: arg, name: filepath.Base(arg), Path: filepath.Join(filepath.Dir(arg), File)}
	text, err := disk.ReadFile(l.Path, MaxBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &MismatchError{err}
	}
	all, problems := Parse(string(text))
	if err := Damage(l.Path, problems, sameFolder(arg, rewritten)...); err != nil {
		return nil, &MismatchError{fmt.Errorf("%w\nwrite the lines again with weir lock and the specs that they are of", err)}
	}
	l.all, l.Was = all, Of(all, l.name)
	l.planned, err = Planned(l.name, plan, weir)
	return l, err
}

// sameFolder returns the file names of those specs that lie in the folder of arg.
func sameFolder(arg string, specs []string) (names []string) {
	for _, s := range specs {
		if filepath.Dir(s) == filepath.Dir(arg) {
			names = append(names, filepath.Base(s))
		}
	}
	return names
}

// Unread lists what differs from the lock of what is known without data.
func (l *Spec) Unread() []Difference {
	known := slices.DeleteFunc(slices.Clone(l.Was), func(e Entry) bool {
		return slices.Contains([]string{Dataset, Public, Program}, e.What)
	})
	return Compare(known, l.planned)
}

// SamePlan reports whether another plan of the spec is the one that was locked, as far as it is known without data and
// whatever the version of weir was.
func (l *Spec) SamePlan(plan *compile.Plan) (bool, error) {
	planned, err := Planned(l.name, plan, "")
	settings := func(all []Entry) []Entry {
		return slices.DeleteFunc(slices.Clone(all), func(e Entry) bool { return e.What != Part && e.What != Stage })
	}
	return err == nil && len(Compare(settings(l.Was), settings(planned))) == 0, err
}

// withData returns the lines of the spec with the lines of its data.
func (l *Spec) withData(data runtime.Data) []Entry {
	list := append(slices.Clone(l.planned), Entry{Spec: l.name, What: Dataset, Is: []string{data.ID, data.Version}})
	if data.Program != "" {
		list = append(list, Entry{Spec: l.name, What: Program, Names: []string{data.Program},
			Is: []string{data.ProgramVersion}})
	}
	for _, f := range data.Files {
		e := Entry{Spec: l.name, What: Public, Names: []string{f.Stage, path.Base(filepath.ToSlash(f.Path))},
			Is: []string{f.Digest}}
		if !slices.ContainsFunc(list, func(o Entry) bool { return o.Name() == e.Name() && o.Value() == e.Value() }) {
			list = append(list, e)
		}
	}
	return list
}

// Write writes the spec's lines, drops the lines of specs that are gone, and returns what differs from the lines
// before.
func (l *Spec) Write(data runtime.Data) ([]Difference, error) {
	current := l.withData(data)
	all := slices.DeleteFunc(slices.Clone(l.all), func(e Entry) bool {
		_, err := os.Lstat(filepath.Join(filepath.Dir(l.Path), filepath.Base(e.Spec)))
		return e.Spec == l.name || errors.Is(err, fs.ErrNotExist)
	})
	return Compare(l.Was, current), disk.Disk{}.WriteBytes(l.Path, 0o644, []byte(Format(append(all, current...))))
}

// Check refuses a run that is not as locked with a MismatchError; it is asked before the run begins.
func (l *Spec) Check(data runtime.Data) error {
	l.asked.Store(true)
	differs := Compare(l.Was, l.withData(data))
	var content error
	if !slices.ContainsFunc(differs, func(d Difference) bool { return d.Name == Dataset }) {
		content = data.CheckLock()
	}
	if len(differs) == 0 && content == nil {
		return nil
	}
	return l.refusal(differs, content)
}

// Unasked returns what differs as far as it is known without data, as a MismatchError, where no run got as far as
// Check.
func (l *Spec) Unasked() error {
	if l.asked.Load() {
		return nil
	}
	return l.Refusal(l.Unread())
}

// Refusal says all that differs, and how it is accepted; nil where nothing does.
func (l *Spec) Refusal(differs []Difference) error {
	if len(differs) == 0 && len(l.Was) > 0 {
		return nil
	}
	return l.refusal(differs, nil)
}

func (l *Spec) refusal(differs []Difference, content error) error {
	text := fmt.Sprintf("%s: %s is not as locked:%s", l.Path, l.name, Text(differs))
	switch {
	case len(l.Was) == 0:
		text = fmt.Sprintf("%s: has no lines of %s", l.Path, l.name)
	case content != nil:
		return &MismatchError{fmt.Errorf("%s\n  %w; then accept it with: weir lock %s", text, content, l.arg)}
	}
	return &MismatchError{fmt.Errorf("%s\naccept it with: weir lock %s", text, l.arg)}
}
