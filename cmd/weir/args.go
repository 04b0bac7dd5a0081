package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/pipeline/words"
	"weir/privacy/account"
	"weir/runtime"
	"weir/runtime/files"
	"weir/runtime/review"
	"weir/schema"
	"weir/specs"
	"weir/stages"
)

// specFlags are the flags of every command that reads a spec.
type specFlags struct {
	set     []string
	confine bool
	tell    func(arg string, n int) // is told, in any order and at once, when n combinations of an experiment are planned
	typed   []byte                  // the spec that a command takes from its standard input, where it takes one
	memory  *account.Memory         // of the accountants that the command asks for bills
}

// stdinArg is the argument that stands for standard input.
const stdinArg = "-"

// shownName returns what an argument is called in what is printed.
func shownName(arg string) string {
	if arg == stdinArg {
		return "stdin"
	}
	return arg
}

// readStdin reads the spec that - stands for, once. One byte more than a spec may have is read, so that it is refused.
func (f *specFlags) readStdin(in io.Reader) (err error) {
	f.typed, err = io.ReadAll(io.LimitReader(in, schema.MaxBytes+1))
	return err
}

func (f *specFlags) add(c *cobra.Command) {
	f.memory = &account.Memory{}
	c.Flags().StringArrayVar(&f.set, "set", nil, "override a setting, such as privacy.epsilon=1, or take a stage out by "+
		"stages.NAME=off (may be repeated); files are named from the current folder")
	c.Flags().BoolVar(&f.confine, "confine", false, "refuse paths of the spec (domain, tables, ledger) that leave its "+
		"folder, through .. or links")
	completeFlag(c, "set", f.completeSet)
	c.ValidArgsFunction = completeSpec
}

// specHelp is part of the help of every command that reads a spec.
const specHelp = `SPEC is a path, or specs:NAME for one that is built in.`

// registry returns all that weir knows.
func registry() (*pipeline.Registry, error) { return runtime.Registry(stages.Kinds()) }

// load reads and validates a spec, a path or specs:NAME.
func (f *specFlags) load(arg string) (*spec.Spec, error) {
	reg, err := registry()
	if err != nil {
		return nil, err
	}
	name, builtIn := strings.CutPrefix(arg, "specs:")
	if arg == stdinArg && f.typed != nil {
		return f.parse(shownName(arg), f.typed, reg)
	}
	if !builtIn {
		spec, err := runtime.LoadSpec(arg, f.rebased(arg, reg), f.confine, reg)
		return spec, review.Unread(err)
	}
	data, known := specs.Read(name)
	if !known {
		return nil, withCode(exitUsage, noSuchSpec(name, specs.Names()))
	}
	return f.parse(arg, data, reg)
}

// parse reads a spec that lies in no file: its paths start in the current folder.
func (f *specFlags) parse(name string, data []byte, reg *pipeline.Registry) (*spec.Spec, error) {
	spec, err := runtime.ParseSpecFrom(name, data, f.set, runtime.Reading(".", f.confine), reg)
	return spec, review.Unread(err)
}

// noSuchSpec lists the built-in specs, the nearest name first.
func noSuchSpec(name string, known []string) error {
	found := ":" + name + ": is not a built-in spec"
	if name == "" {
		found = ": is without a name"
	}
	if near := schema.Suggest(name, known); near != "" {
		found += "\n  did you mean specs:" + near + "?"
	}
	list := words.Wrap("  must be one of " + strings.Join(known, ", "))
	return fmt.Errorf("specs%s\n%s", found, list)
}

// rebased returns the overrides, their files from the spec's folder.
func (f *specFlags) rebased(arg string, reg *pipeline.Registry) []string {
	sets, places := make([]string, len(f.set)), spec.Places(reg)
	for i, set := range f.set {
		sets[i] = rebase(set, f.dir(arg), places)
	}
	return sets
}

// compile loads and compiles, and refuses files that the spec may not read or charge. It looks at names and file
// systems, and reads no data.
func (f *specFlags) compile(arg string) (*compile.Plan, error) {
	sp, err := f.load(arg)
	if err != nil {
		return nil, err
	}
	return f.planned(arg, sp, func(s *spec.Spec) (*compile.Plan, error) { return compile.Remembering(s, f.memory) })
}

// planned returns the plan of a spec by a function, where its files may be read and charged.
func (f *specFlags) planned(arg string, sp *spec.Spec, by func(*spec.Spec) (*compile.Plan, error)) (*compile.Plan,
	error) {
	plan, err := by(sp)
	if err != nil {
		return nil, err
	}
	folder, err := files.OpenFolder(f.dir(arg), f.confine)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	return plan, runtime.CheckFiles(plan, folder)
}

// dir returns the folder that a spec's relative paths start in.
func (f *specFlags) dir(arg string) string {
	if strings.HasPrefix(arg, "specs:") || arg == stdinArg {
		return "."
	}
	return filepath.Dir(arg)
}

// specsHelp is part of the help of commands that read several specs as one experiment.
const specsHelp = `SPEC is a path, or specs:NAME for one that is built in; where no spec has that name,
all whose names begin with NAME and a hyphen. Several, of one folder, are one experiment.`

// several returns the specs that arguments name: specs:NAME where no spec is called so stands for all built-in
// specs of that family, in alphabetical order.
func several(args []string) []string {
	var list []string
	for _, arg := range args {
		list = append(list, family(arg)...)
	}
	return list
}

func family(arg string) []string {
	name, builtIn := strings.CutPrefix(arg, "specs:")
	if _, known := specs.Read(name); !builtIn || known || name == "" {
		return []string{arg}
	}
	var list []string
	for _, other := range specs.Names() {
		if strings.HasPrefix(other, name+"-") {
			list = append(list, "specs:"+other)
		}
	}
	if len(list) == 0 {
		return []string{arg} // its error lists what there is
	}
	return list
}

// atLeastOne takes one spec or more.
func atLeastOne(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage(c, fmt.Errorf("given no SPEC, must be given one or more"))
	}
	return nil
}

// rebase turns a path that --set gives from the current folder, as the shell
// completes it, into one from the spec's folder, where paths of a spec start. A
// path that does not lead to a file from the current folder stays as it is. places are the settings of sources that
// name files.
func rebase(set, dir string, places []string) string {
	path, value, ok := strings.Cut(set, "=")
	if !ok || !namesFile(path, places) || filepath.IsAbs(value) {
		return set
	}
	if info, err := os.Stat(value); err != nil || info.IsDir() {
		return set
	}
	source, err1 := filepath.Abs(dir)
	target, err2 := filepath.Abs(value)
	if err1 != nil || err2 != nil {
		return set
	}
	relative, err := filepath.Rel(source, target)
	if err != nil {
		return path + "=" + target
	}
	return path + "=" + relative
}

// namesFile reports whether a setting is the name of a file.
func namesFile(path string, places []string) bool {
	return slices.Contains(places, path) || path == "dataset.domain" || strings.HasPrefix(path, "stages.") &&
		strings.HasSuffix(path, ".file")
}

// diskOf returns the disk of a command: it waits for locks until the command is interrupted,
// and says for which.
func diskOf(c *cobra.Command, s streams) disk.Disk {
	return disk.Disk{}.Waiting(disk.Wait{Context: c.Context(), Quiet: 2 * time.Second, Tell: func(path string) {
		fmt.Fprintf(s.err, "%s waiting for %s, which another process holds; Ctrl-C ends the wait\n",
			paint(s.err, bold, "note:"), path)
	}})
}

// pageBegins is how every page of weir begins.
const pageBegins = "<!DOCTYPE html>"

// pageFits refuses a file for a page of --html that holds something else, such as the table; "" is not a page.
func pageFits(file string) error {
	if file == "" {
		return nil
	}
	old, err := disk.ReadFile(file, 0)
	if errors.Is(err, fs.ErrNotExist) || err == nil && bytes.HasPrefix(old, []byte(pageBegins)) {
		return nil
	}
	if err != nil {
		return withCode(exitUsage, err)
	}
	return withCode(exitUsage, fmt.Errorf("--html: %s exists and is not a page, must be a new file or a page, "+
		"which is replaced", file))
}

// ledgerPlaceFlags say where a command that opens no data finds the ledger.
type ledgerPlaceFlags struct {
	out, ledger string
	fresh       bool // as of weir run --fresh
}

func (f *ledgerPlaceFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.out, "out", "runs", "folder of runs, which knows what was paid for")
	c.Flags().StringVar(&f.ledger, "ledger", "", "ledger of the dataset (default: beside the dataset)")
}

func (f *ledgerPlaceFlags) options(s streams) runtime.Options {
	return runtime.Options{Out: f.out, Ledger: f.ledger, Fresh: f.fresh, Version: thisVersion().Weir, Build: s.build(),
		Log: newLog(s.err, false), Clock: time.Now}
}

// privateFolder makes a folder below TMPDIR for private rows that a command needs while it works, and returns what
// removes it. The folder is locked as long as the process lives: folders of the same prefix that a killed process has
// left are removed first. Until then a reader that went away, such as head, ends the command by an error and not at
// once.
func privateFolder(prefix string) (dir string, remove func() error, err error) {
	if err := sweepPrivate(prefix); err != nil {
		return "", nil, err
	}
	if dir, err = os.MkdirTemp("", prefix); err != nil {
		return "", nil, err
	}
	unlock, err := disk.Disk{}.TryLock(filepath.Join(dir, privateLock))
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	signal.Ignore(syscall.SIGPIPE)
	return dir, func() error {
		signal.Reset(syscall.SIGPIPE)
		return errors.Join(unlock(), os.RemoveAll(dir))
	}, nil
}

// privateLock is the name of the lock in a folder of privateFolder.
const privateLock = "weir.lock"

// sweepPrivate removes folders of a prefix below TMPDIR whose process is gone. One without a lock is somebody else's,
// or is just being made.
func sweepPrivate(prefix string) error {
	folders, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, dir := range folders {
		lock := filepath.Join(dir, privateLock)
		if info, failed := os.Lstat(lock); failed != nil || !info.Mode().IsRegular() {
			continue
		}
		unlock, failed := disk.Disk{}.TryLock(lock)
		if failed != nil {
			continue
		}
		if failed := errors.Join(unlock(), os.RemoveAll(dir)); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: holds private rows that a killed audit left, and must be removed: %w",
				dir, failed))
		}
	}
	return err
}
