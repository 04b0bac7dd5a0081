package payment

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy/noise"
	"weir/record"
	"weir/runtime/store"
)

// What is paid for is never paid again. A stage that draws noise is known by its recipe
// (recipe.go), in whichever run and spec of the dataset. Where an earlier run has charged an
// equal one, on the same rows, its noise is taken again: the stored output or, from its key
// and by the same build of weir, one that is computed anew and has the same bytes. This
// releases nothing new, so nothing is charged. The charge has to stand in the ledger, and
// another recipe is another charge with noise of its own.

// Earlier is a run that has charged a recipe.
type Earlier struct {
	Run        string
	Commitment string     // of the key of its noise
	Key        *noise.Key // nil where it was not kept: what it made can be used, and not made again
}

// errVanished is an output that a run counted on when it said what it would charge.
var errVanished = errors.New("an earlier run's output, which this run was to use again, was there when the run began " +
	"and is gone; nothing was charged for this stage. Run again, and what it costs is said anew")

// ErrNewCharge is returned where a run that may charge nothing new would need a charge that it did not make.
var ErrNewCharge = errors.New("an input of a paid stage is not what it was, so its noise would be new, " +
	"and a new charge; nothing was charged")

// draws reports whether a step draws noise.
func draws(step *compile.Step) bool { return len(step.Spends) > 0 }

// Unpaid reports whether a plan charges nothing: it is without privacy, or no stage draws
// noise. Its run leaves no mark beside the data.
func Unpaid(p *compile.Plan) bool {
	return p.Budget.Infinite() || !slices.ContainsFunc(p.Steps, func(s compile.Step) bool { return draws(&s) })
}

// Search finds out, before anything is charged, whose noise each stage has.
func (p *Purse) Search(ctx context.Context) error {
	source, err := p.task.sourceAddress()
	if err != nil {
		return err
	}
	p.addresses[pipeline.DatasetID] = source
	for i := range p.task.Plan.Steps {
		step := &p.task.Plan.Steps[i]
		if err := p.findNoise(ctx, step); err != nil {
			return pipeline.AtStage(step.ID, err)
		}
	}
	return nil
}

// findNoise finds out whose noise a step has, and with it the address of what it makes. The
// stages that it reads have theirs already.
func (p *Purse) findNoise(ctx context.Context, step *compile.Step) (err error) {
	earlier := p.Earlier(step)
	if earlier == nil {
		if earlier, err = p.lookFor(ctx, step); err != nil {
			return err
		}
	}
	key := ""
	switch {
	case earlier != nil:
		key = earlier.Commitment
	case draws(step):
		key = p.attempt.Key.Commitment()
	}
	where, err := p.address(ctx, step, key)
	p.mu.Lock()
	p.addresses[step.ID] = where
	if earlier != nil {
		p.earlier[step.ID] = earlier
	}
	p.mu.Unlock()
	return errors.Join(err, p.checkBasis(step, where))
}

// lookFor returns the earlier run whose noise a step has, or nil: then the noise is the run's own.
func (p *Purse) lookFor(ctx context.Context, step *compile.Step) (*Earlier, error) {
	switch {
	case !draws(step):
		return nil, nil
	case p.task.Replay:
		return p.task.Earlier[step.ID], nil
	case p.task.Fresh || !p.task.Plan.Budget.Infinite() && p.hasDrawn(step):
		return nil, nil
	}
	only := p.attempt.Again.From(step.ID)
	for _, note := range p.noted(step) {
		if only != "" && note.Run != only {
			continue
		}
		if earlier, err := p.usable(ctx, step, note); earlier != nil || err != nil {
			return earlier, err
		}
	}
	return nil, nil
}

// noted lists the notes of runs that have charged the recipe of a step, or were about to: the newest first, but
// before it the one whose noise the step had when this run was interrupted.
func (p *Purse) noted(step *compile.Step) []Note {
	list, before := p.book.notes().Of(p.task.Recipes[step.ID]), readBasis(p.attempt.Dir, step.ID).Run
	slices.SortStableFunc(list, func(a, b Note) int {
		switch before {
		case a.Run:
			return -1
		case b.Run:
			return 1
		}
		return 0
	})
	return list
}

// usable returns the run of a note if its charge stands in the ledger and its output is there or
// can be made again, of the same rows.
func (p *Purse) usable(ctx context.Context, step *compile.Step, note Note) (*Earlier, error) {
	if note.Run == p.attempt.ID || note.Insecure != (p.task.Seed != nil) ||
		note.Insecure && note.Key != p.attempt.Key.Commitment() {
		return nil, nil
	}
	where, err := p.address(ctx, step, note.Key)
	if where == "" {
		where = note.Address // rows that nobody has opened are taken to be the rows of earlier runs
	}
	if err != nil || where != note.Address || !p.charged(note.Run, step) {
		return nil, err
	}
	dir := store.RunDir{Path: filepath.Join(p.book.place.Out, note.Name, note.Run)}
	earlier := &Earlier{Run: note.Run, Commitment: note.Key, Key: p.task.keptKey(dir, note.Build, note.Key)}
	if earlier.Key == nil && !p.book.cache().Holds(where) {
		return nil, nil
	}
	return earlier, nil
}

// keptKey returns the noise key of an earlier run, or nil. Another build of weir may compute other
// values from it, which together with the first would tell more than was paid for.
func (t *Task) keptKey(dir store.RunDir, build, commitment string) *noise.Key {
	if t.Build == "" || build != t.Build {
		return nil
	}
	key, err := LoadKey(dir.Internal())
	if err != nil || key.Commitment() != commitment {
		return nil
	}
	return &key
}

// NothingNew returns an error where a run that may make no new charge would make one. It is called before the run has a
// record, so that a refused run cannot be continued.
func (p *Purse) NothingNew() error {
	for i := range p.task.Plan.Steps {
		step := &p.task.Plan.Steps[i]
		if p.attempt.Settled && !p.free(step) && p.Earlier(step) == nil && !p.charged(p.attempt.ID, step) {
			return pipeline.AtStage(step.ID, fmt.Errorf("%w. --fresh draws new noise", ErrNewCharge))
		}
	}
	return nil
}

// free reports whether a step charges nothing, whichever run carries it out.
func (p *Purse) free(step *compile.Step) bool {
	return !draws(step) || p.task.Plan.Budget.Infinite() || p.task.Replay
}

// Reserve lets one run at a time charge the recipe of a step, looks once more whether another has meanwhile, and keeps
// what the noise of the step stands on, before any of it is paid for. release lets the next run go on.
func (p *Purse) Reserve(ctx context.Context, step *compile.Step) (release func() error, err error) {
	if !draws(step) || p.task.Replay {
		return func() error { return nil }, p.findNoise(ctx, step)
	}
	turn := p.book.place.Turns.Take(p.task.Recipes[step.ID])
	unlock, err := p.book.notes().Lock(p.task.Recipes[step.ID])
	if err != nil {
		turn()
		return nil, err
	}
	release = func() error { defer turn(); return unlock() }
	if err = p.findNoise(ctx, step); err == nil {
		err = p.keepBasis(step)
	}
	if err != nil {
		return nil, errors.Join(err, release())
	}
	return release, nil
}

// announce notes that the run is about to charge a step, so that others find what it makes.
func (p *Purse) announce(step *compile.Step) error {
	earlier := p.Earlier(step)
	switch {
	case !draws(step) || p.task.Replay:
		return nil
	case earlier != nil && earlier.Key == nil:
		return errVanished
	case earlier != nil:
		return nil
	}
	return p.book.notes().Write(p.task.Recipes[step.ID], Note{Run: p.attempt.ID, At: p.book.place.Clock(),
		Name: p.task.Plan.Name, Stage: step.ID, Key: p.attempt.Key.Commitment(), Address: p.Address(step.ID),
		Build: p.task.Build, Insecure: p.task.Seed != nil})
}

// Earlier returns the run whose noise a step has; nil is this one.
func (p *Purse) Earlier(step *compile.Step) *Earlier {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.earlier[step.ID]
}

// Address returns where what a stage makes is stored, or the dataset; it is known once Search has decided.
func (p *Purse) Address(stage string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.addresses[stage]
}

// EarlierOf finds the runs under out whose noise a run has, with their keys, by stage: a replay draws it
// again. The error names a run that is gone, or whose key was not kept.
func EarlierOf(out string, rec *record.Run) (map[string]*Earlier, error) {
	found := map[string]*Earlier{}
	var errs []error
	for _, s := range rec.Stages {
		if s.From == "" {
			continue
		}
		key, err := keyOfRun(out, s.From)
		if err != nil {
			errs = append(errs, fmt.Errorf("stage %s has the noise of run %s, and without the noise key of that "+
				"it cannot be replayed: %w", s.ID, s.From, err))
			continue
		}
		found[s.ID] = &Earlier{Run: s.From, Commitment: key.Commitment(), Key: &key}
	}
	return found, errors.Join(errs...)
}

// keyOfRun returns the noise key of a run, which lies under the name of its spec.
func keyOfRun(out, id string) (noise.Key, error) {
	names, err := os.ReadDir(out)
	if err != nil || id != filepath.Base(id) {
		return noise.Key{}, errors.Join(err, os.ErrNotExist)
	}
	for _, name := range names {
		dir := filepath.Join(out, name.Name(), id)
		rec, err := ReadHead(filepath.Join(dir, "run.json"))
		if err != nil {
			continue
		}
		key, err := LoadKey(store.RunDir{Path: dir}.Internal())
		if err == nil && rec.Key != key.Commitment() {
			err = errors.New("the key is not the one that the record commits to")
		}
		return key, err
	}
	return noise.Key{}, fmt.Errorf("%s: has no run %s", out, id)
}

// Note says which run charges a recipe, and where what it makes is stored. It is written
// before the charge is: that the charge was made is for the ledger to say.
type Note struct {
	Run      string    `json:"run"`
	At       time.Time `json:"at"`
	Name     string    `json:"name"` // of its spec: the run lies in OUT/NAME/RUN
	Stage    string    `json:"stage"`
	Key      string    `json:"noise_key_sha256"` // commitment of the key that its noise is drawn with
	Address  string    `json:"address"`          // of its outputs; it holds what the rows are, so it stays on the owner's side
	Build    string    `json:"build,omitempty"`  // of the program: another may compute other values from the same noise
	Insecure bool      `json:"not_private,omitempty"`
}

// maxNoteBytes is far above what a note takes.
const maxNoteBytes = 1 << 20

// Notes are the notes of a folder of runs on who charges which recipe.
type Notes struct{ Cache store.Cache }

func (n Notes) folder(recipe string) string {
	return filepath.Join(n.Cache.Dir, store.PaidDir, strings.TrimPrefix(recipe, "sha256:"))
}

// Write keeps that a run charges a recipe.
func (n Notes) Write(recipe string, note Note) error {
	data, err := json.Marshal(note)
	if err != nil {
		return err
	}
	return n.Cache.Disk.WriteBytes(filepath.Join(n.folder(recipe), note.Run+".json"), 0o600, data)
}

// Of lists the notes of the runs that charged a recipe, or were about to, the newest first. A note that
// cannot be read is none: what is lost is only that it could have been used again.
func (n Notes) Of(recipe string) []Note {
	files, err := os.ReadDir(n.folder(recipe))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var list []Note
	for _, file := range files {
		var note Note
		data, err := disk.ReadFile(filepath.Join(n.folder(recipe), file.Name()), maxNoteBytes)
		if err == nil && json.Unmarshal(data, &note) == nil && note.Run+".json" == file.Name() &&
			filepath.IsLocal(filepath.Join(note.Name, note.Run)) {
			list = append(list, note)
		}
	}
	slices.SortFunc(list, func(a, b Note) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(b.Run, a.Run)) })
	return list
}

// Lock keeps other processes from charging a recipe, or waiting for its outcome, at the
// same time.
func (n Notes) Lock(recipe string) (unlock func() error, err error) {
	if err := n.Cache.Disk.MkdirAll(n.folder(recipe), 0o700); err != nil {
		return nil, err
	}
	return n.Cache.Disk.Lock(filepath.Join(n.folder(recipe), "charge"))
}
