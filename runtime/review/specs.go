package review

import (
	"bytes"
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
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/privacy/ledger"
	"weir/runtime"
	"weir/runtime/dataset"
	"weir/runtime/payment"
	"weir/schema"
)

// Check reads the specs of a budget check, then and now.
type Check struct {
	Against  string             // the revision, as the user named it
	Confine  bool               // paths of a spec may not leave its folder
	Registry *pipeline.Registry // of all kinds

	then   *Commit
	bills  map[string][]Run // by the digest of spec and experiment: most do not change
	notes  []string
	others struct{ then, now []namedData } // datasets of the specs that are not checked
}

// specState is a spec on one side of a check.
type specState struct {
	namedData
	bill   []Run
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

// load reads the pairs of the arguments, or all of the repository.
func (b *Check) load(ctx context.Context, args []string) (pairs []specPair, err error) {
	path := "."
	if len(args) > 0 {
		path = args[0]
	}
	if b.then, err = OpenCommit(ctx, path, b.Against); err != nil {
		return nil, err
	}
	b.bills = map[string][]Run{}
	names, err := b.namedPaths(args)
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

// namedPaths returns the paths of arguments in the repository, each once.
func (b *Check) namedPaths(args []string) (names []string, err error) {
	for _, arg := range args {
		name, err := b.then.Inside(arg)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// tracked returns all files of YAML that git has now or had then and that are specs on either
// side.
func (b *Check) tracked() (names []string, err error) {
	earlier, err := b.then.Holding("weir")
	if err != nil {
		return nil, err
	}
	current, err := b.then.Tracked()
	if err != nil {
		return nil, err
	}
	for _, name := range append(earlier, current...) {
		ext := path.Ext(name)
		if (ext == ".yaml" || ext == ".yml") && !slices.Contains(names, name) &&
			(b.specNow(name) || slices.Contains(earlier, name) && b.specThen(name)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

func (b *Check) specThen(name string) bool {
	data, err := b.then.Read(name, schema.MaxBytes)
	return err == nil && isSpec(data)
}

func (b *Check) specNow(name string) bool {
	data, err := disk.ReadFile(b.place(name), schema.MaxBytes)
	return err == nil && isSpec(data)
}

// isSpec tells a spec, sound or not, from other YAML.
func isSpec(data []byte) bool {
	doc, _ := schema.Parse("", data)
	return doc != nil && doc.Has("weir") && doc.Has("stages")
}

// place returns where a file of the repository lies now.
func (b *Check) place(name string) string {
	if filepath.IsAbs(filepath.FromSlash(name)) {
		return filepath.FromSlash(name)
	}
	return filepath.Join(filepath.FromSlash(b.then.Top), filepath.FromSlash(name))
}

// pair reads a spec on both sides. One that could not run then spent nothing then, and
// set no budget; the error is the one of now.
func (b *Check) pair(name string) (p specPair, err error) {
	p.path = name
	sp, fault := b.then.Spec(name, b.Registry)
	if fault == nil {
		p.then, fault = b.state(name, sp)
	}
	if fault != nil && !errors.Is(fault, ErrAbsent) {
		b.notes = append(b.notes, fmt.Sprintf("%s could not run in %s, so what it plans now counts as new: %s", name,
			b.Against, firstLine(fault)))
	}
	if _, err := os.Lstat(b.place(name)); err != nil && !errors.Is(fault, ErrAbsent) {
		return p, nil // it is gone
	}
	if sp, err = runtime.LoadSpec(b.place(name), nil, b.Confine, b.Registry); err != nil {
		return p, Unread(err)
	}
	if p.now, err = b.state(name, sp); err != nil {
		p.now = nil
		return p, err
	}
	p.now.bill = b.withFiles(path.Dir(name), p.now.bill)
	return p, nil
}

// state compiles a spec with all runs of its experiment. One that has no plan still says
// which budget it sets.
func (b *Check) state(name string, sp *spec.Spec) (*specState, error) {
	data, err := json.Marshal(sp.Experiment)
	if err != nil {
		return nil, err
	}
	digest := sp.Digest + string(data) // which the digest of a spec leaves out
	s := &specState{cap: capOf(sp), digest: digest, bill: b.bills[digest]}
	s.namedData, s.shown = b.datasetOf(path.Dir(name), sp)
	if s.bill == nil {
		if s.bill, err = Runs(sp); err != nil {
			return s, err
		}
		b.bills[digest] = s.bill
	}
	return s, nil
}

// capOf returns the budget of a spec's dataset as the ledger takes it, or nil.
func capOf(sp *spec.Spec) *ledger.Cap {
	b := sp.Dataset.Budget
	if b == nil {
		return nil
	}
	return &ledger.Cap{Epsilon: b.Epsilon, Delta: b.Delta, Adjacency: sp.Privacy.Adjacency,
		Unit: payment.Unit(sp.Dataset.PrivacyUnit), Filter: b.Filter}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// namedData is what a spec calls its dataset, told without opening it. Paths are from the
// top of the repository.
type namedData struct {
	dataset string // place of its ledger, or its name where no file holds its rows
	file    string // place of the table, links followed; "" where no file holds its rows
	id      string // of the ledger, then or now; "" where nothing was charged
}

// same tells whether two names are of one dataset: by the place of the ledger, the table, a pattern that it matches, or
// the id that a ledger keeps wherever it is moved.
func (n namedData) same(o namedData) bool {
	return n.dataset == o.dataset || n.file != "" && n.file == o.file || n.id != "" && n.id == o.id ||
		matches(n.file, o.file) || matches(o.file, n.file)
}

// matches reports whether a table is a pattern of files that another one is a file of.
func matches(pattern, file string) bool {
	if file == "" || !pipeline.IsPattern(pattern) {
		return false
	}
	is, err := path.Match(strings.NewReplacer(`\`, `\\`, "[", `\[`).Replace(pattern), file)
	return err == nil && is
}

// namesDataset tells which names are of the dataset with a ledger's place, known by any of the names.
func namesDataset(key string, names []namedData) func(namedData) bool {
	return func(n namedData) bool {
		return slices.ContainsFunc(names, func(o namedData) bool { return o.dataset == key && n.same(o) })
	}
}

// names returns all that specs and budgets call their datasets.
func names(pairs []specPair, caps []setBudget) (all []namedData) {
	for _, p := range pairs {
		for _, s := range []*specState{p.then, p.now} {
			if s != nil {
				all = append(all, s.namedData)
			}
		}
	}
	for _, c := range caps {
		all = append(all, c.namedData)
	}
	return all
}

// datasetOf names the dataset of a spec in a folder of the repository.
func (b *Check) datasetOf(folder string, sp *spec.Spec) (n namedData, shown string) {
	d := sp.Dataset
	n.dataset, shown = d.Declared.Name, d.Declared.Name
	if table := d.Declared.Table(); table != "" {
		n.file = b.home(folder, table)
		n.dataset, shown = dataset.LedgerName(n.file), n.file
	}
	if d.Ledger != "" {
		n.dataset = b.home(folder, d.Ledger)
	}
	n.id = b.idOf(n.dataset)
	return n, shown
}

// home returns where a file that a spec names lies: in the repository where it can, whatever
// links lead there, else on this machine.
func (b *Check) home(folder, name string) string {
	path := filepath.FromSlash(name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.then.Top, filepath.FromSlash(folder), path)
	}
	path = linked(path)
	if rel, err := filepath.Rel(linked(b.then.Top), path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return filepath.ToSlash(path)
}

// linked follows links, also to a table that is not on this machine.
func linked(path string) string {
	for range 40 { // which is where Linux gives up
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(dir, filepath.Base(path))
		}
		target, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return path
}

// idOf returns the id that the ledger at a place has, or had; what is wrong with it is told where
// it is added up.
func (b *Check) idOf(key string) string {
	var current []ledger.Entry
	earlier, _ := b.then.Ledger(key)
	if _, err := os.Stat(b.place(key)); err == nil {
		current, _ = dataset.ReadLedger(b.place(key))
	}
	for _, e := range append(current, earlier...) {
		return e.Dataset
	}
	return ""
}

// withFiles marks the runs of a spec in a folder that read a public file which is another now
// than in the revision: what they pay for is not what the ledger has, though the spec is the
// same.
func (b *Check) withFiles(folder string, runs []Run) []Run {
	runs = slices.Clone(runs) // the revision may have the same
	changed := map[string]bool{}
	for i := range runs {
		runs[i].anew = slices.ContainsFunc(runs[i].Plan.Steps, func(s compile.Step) bool {
			return slices.ContainsFunc(s.Work.Files, func(f pipeline.FileUse) bool {
				if _, known := changed[f.Path]; !known {
					changed[f.Path] = f.Public && b.changed(b.home(folder, f.Path))
				}
				return changed[f.Path]
			})
		})
	}
	return runs
}

// changed tells of a file of the repository whether its content is another than in the
//
//	Of one that the revision does not have nothing is known.
func (b *Check) changed(name string) bool {
	earlier, err := b.then.Read(name, dataset.MostOfLedger)
	if err != nil {
		return false
	}
	now, err := disk.ReadFile(b.place(name), dataset.MostOfLedger)
	return err != nil || !bytes.Equal(earlier, now)
}
