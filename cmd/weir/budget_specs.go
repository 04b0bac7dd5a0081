package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"weir/internal/disk"
	"weir/pipeline/spec"
	"weir/privacy/ledger"
	"weir/runtime/book"
	"weir/schema"
)

// budgeting reads the specs of a budget check, then and now.
type budgeting struct {
	against string
	flags   specFlags

	then  *gitCommit
	bills map[string]bill // by the digest of spec and experiment: most do not change
	notes []string
}

// specState is a spec on one side of a check.
type specState struct {
	namedData
	bill   bill
	shown  string      // the dataset as people call it
	cap    *ledger.Cap // of the dataset
	digest string
}

// specPair is a spec by its path in the repository, as it was and as it is; nil where it is
// not, or cannot run.
type specPair struct {
	path      string
	then, now *specState
	fault     string // why it cannot run now
}

// load reads the pairs: those of the arguments, or all of the repository.
func (b *budgeting) load(ctx context.Context, args []string) (pairs []specPair, err error) {
	at := "."
	if len(args) > 0 {
		at = args[0]
	}
	if b.then, err = openRevision(ctx, at, b.against); err != nil {
		return nil, err
	}
	b.bills = map[string]bill{}
	names, err := b.named(args)
	if len(args) == 0 && err == nil {
		names, err = b.tracked()
	}
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, name := range names {
		pair, err := b.pair(name)
		if err != nil && len(args) == 0 { // it cannot run, so it plans nothing
			b.notes = append(b.notes, fmt.Sprintf("%s cannot run as it is now and plans nothing: %s", name, firstLine(err)))
			pair.fault, err = err.Error(), nil
		}
		errs = append(errs, err)
		pairs = append(pairs, pair)
	}
	return pairs, errors.Join(errs...)
}

// named are the paths of arguments in the repository, each once.
func (b *budgeting) named(args []string) (names []string, err error) {
	for _, arg := range args {
		name, err := b.then.inside(arg)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// tracked are all files of YAML that git has now or had then and that are specs on either
// side.
func (b *budgeting) tracked() (names []string, err error) {
	then, err := b.then.holding("weir")
	if err != nil {
		return nil, err
	}
	now, err := b.then.git("ls-files", "-z", "--cached", "--full-name")
	if err != nil {
		return nil, err
	}
	for _, name := range append(then, strings.Split(string(now), "\x00")...) {
		ext := path.Ext(name)
		if (ext == ".yaml" || ext == ".yml") && !slices.Contains(names, name) && (b.specNow(name) || slices.Contains(then, name) && b.specThen(name)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

func (b *budgeting) specThen(name string) bool {
	data, err := b.then.read(name, schema.MaxBytes)
	return err == nil && isSpec(data)
}

func (b *budgeting) specNow(name string) bool {
	data, err := disk.ReadFile(b.place(name), schema.MaxBytes)
	return err == nil && isSpec(data)
}

// isSpec tells a spec, sound or not, from other YAML.
func isSpec(data []byte) bool {
	doc, _ := schema.Parse("", data)
	return doc != nil && doc.Has("weir") && doc.Has("stages")
}

// place is where a file of the repository lies now.
func (b *budgeting) place(name string) string {
	if filepath.IsAbs(filepath.FromSlash(name)) {
		return filepath.FromSlash(name)
	}
	return filepath.Join(filepath.FromSlash(b.then.top), filepath.FromSlash(name))
}

// pair reads a spec on both sides. One that could not run then spent nothing then, and
// set no budget; the error is that of now.
func (b *budgeting) pair(name string) (p specPair, err error) {
	p.path = name
	var fault error
	if p.then, fault = b.state(name, func(t spec.Trial) (*spec.Spec, error) { return b.then.spec(name, t) }); fault != nil && !errors.Is(fault, errAbsent) {
		b.notes = append(b.notes, fmt.Sprintf("%s could not run in %s, so what it plans now counts as new: %s", name, b.against, firstLine(fault)))
	}
	if _, err := os.Lstat(b.place(name)); err != nil && !errors.Is(fault, errAbsent) {
		return p, nil // it is gone
	}
	p.now, err = b.state(name, func(t spec.Trial) (*spec.Spec, error) {
		flags := b.flags
		flags.trial = t
		return flags.load(b.place(name))
	})
	if err != nil {
		p.now = nil
		return p, err
	}
	p.now.bill = b.withFiles(path.Dir(name), p.now.bill)
	return p, nil
}

// state compiles a spec with all runs of its experiment. One that has no plan still says
// which budget it sets.
func (b *budgeting) state(name string, load trialSpec) (*specState, error) {
	sp, err := load(spec.Trial{})
	if err != nil {
		return nil, err
	}
	of, err := json.Marshal(sp.Experiment)
	if err != nil {
		return nil, err
	}
	digest := sp.Digest + string(of) // which the digest of a spec leaves out
	s := &specState{cap: capOf(sp), digest: digest, bill: b.bills[digest]}
	s.namedData, s.shown = b.datasetOf(path.Dir(name), sp)
	if s.bill == nil {
		if s.bill, err = plannedBill(sp, load); err != nil {
			return s, err
		}
		b.bills[digest] = s.bill
	}
	return s, nil
}

// capOf is the budget of a spec's dataset as the ledger takes it, or nil.
func capOf(sp *spec.Spec) *ledger.Cap {
	b := sp.Dataset.Budget
	if b == nil {
		return nil
	}
	return &ledger.Cap{Epsilon: b.Epsilon, Delta: b.Delta, Adjacency: sp.Privacy.Adjacency, Unit: book.Unit(sp.Dataset.PrivacyUnit), Filter: b.Filter}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
