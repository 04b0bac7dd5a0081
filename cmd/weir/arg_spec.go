package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/pipeline/words"
	"weir/runtime"
	"weir/runtime/files"
	"weir/runtime/revision"
	"weir/schema"
	"weir/specs"
	"weir/stages"
)

// specFlags are those of every command that reads a spec.
type specFlags struct {
	set     []string
	confine bool
	trial   spec.Trial // of the spec's experiment
}

func (f *specFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.set, "set", nil, "override a setting, such as privacy.epsilon=1, or take a stage out by stages.NAME=off (may be repeated); files are named from the current folder")
	c.Flags().BoolVar(&f.confine, "confine", false, "refuse paths of the spec (domain, tables, ledger) that leave its folder, through .. or links")
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
	if !builtIn {
		spec, err := runtime.LoadSpec(arg, f.rebased(arg, reg), f.trial, f.confine, reg)
		return spec, revision.Unread(err)
	}
	data, known := specs.Read(name)
	if !known {
		return nil, withCode(exitUsage, noSuchSpec(name, specs.Names()))
	}
	folder, err := files.OpenFolder(".", f.confine)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	spec, err := runtime.ParseTrial(arg, data, f.set, f.trial, folder, reg)
	return spec, revision.Unread(err)
}

// noSuchSpec lists the built-in specs, the nearest name first.
func noSuchSpec(name string, known []string) error {
	found := ":" + name + ": is no built-in spec"
	if name == "" {
		found = ": is without a name"
	}
	if near := schema.Suggest(name, known); near != "" {
		found += "\n  did you mean specs:" + near + "?"
	}
	list := words.Wrap("  must be one of " + strings.Join(known, ", "))
	return fmt.Errorf("specs%s\n%s", found, list)
}

// rebased are the overrides, their files from the spec's folder.
func (f *specFlags) rebased(arg string, reg *pipeline.Registry) []string {
	sets, places := make([]string, len(f.set)), spec.Places(reg)
	for i, set := range f.set {
		sets[i] = rebase(set, f.dir(arg), places)
	}
	return sets
}

// compile loads and compiles, and refuses files that the spec may not read or charge. It looks at names and file systems, and reads no
// data.
func (f *specFlags) compile(arg string) (*compile.Plan, error) {
	return f.compileBy(arg, compile.Compile)
}

// compileBy is compile with the plan of a spec by a function.
func (f *specFlags) compileBy(arg string, by func(*spec.Spec) (*compile.Plan, error)) (*compile.Plan, error) {
	spec, err := f.load(arg)
	if err != nil {
		return nil, err
	}
	plan, err := by(spec)
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

// dir is the folder that a spec's relative paths start in.
func (f *specFlags) dir(arg string) string {
	if strings.HasPrefix(arg, "specs:") {
		return "."
	}
	return filepath.Dir(arg)
}
