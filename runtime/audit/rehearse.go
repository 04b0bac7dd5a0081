// Package audit carries out specs on changed rows, with noise that is thrown away, and looks at what others would see
// of it: on a dataset and its neighbours, and in runs that follow each other. What it finds is evidence on the rows
// that it tried; what is proven stands beside the code of each kind.
package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/record"
	"weir/runtime"
	"weir/runtime/files"
)

// ErrStays is returned for a dataset whose rows no reader gets.
var ErrStays = errors.New("rows of the dataset stay in a database, where none can be changed; must be rows that come " +
	"to weir (dataset.database.rows)")

// Subject is a plan and its dataset, inside open for rehearsals.
type Subject struct {
	plan  *compile.Plan
	opts  runtime.Options
	files *files.Held
	began time.Time // the time of every run: nobody can tell two apart by it
	count atomic.Int64
	plant func(stage string, env *pipeline.Env) // what tests break; nil: nothing
}

// Open holds the dataset of a plan open. Of the options it takes where the spec lies and may lead, the workers, the
// program and who is told; opts.Out is an empty folder for private rows, in which every rehearsal has one of its own
// until it ends. The error is ErrStays for rows that no reader gets.
func Open(plan *compile.Plan, opts runtime.Options) (*Subject, error) {
	if plan.Spec.Dataset.Declared.Stays {
		return nil, ErrStays
	}
	folder, err := files.OpenFolder(opts.Dir, opts.Confine)
	if err != nil {
		return nil, err
	}
	if opts.Out, err = filepath.Abs(opts.Out); err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return &Subject{plan: plan, opts: opts, files: files.Hold(folder), began: opts.Clock()}, nil
}

// ErrOtherDataset is returned for a second plan whose dataset is not the first one's: nothing is told of both together.
var ErrOtherDataset = errors.New("the second spec is on another dataset, or on another version of it; must be on the " +
	"same one, by the same settings of dataset")

// follows refuses a plan that cannot follow the first one on its dataset.
func (s *Subject) follows(plan *compile.Plan) error {
	one, other := s.plan.Spec.Dataset, plan.Spec.Dataset
	switch {
	case other.Declared.Stays:
		return ErrStays
	case one.Version != other.Version, one.PrivacyUnit != other.PrivacyUnit, one.Declared.Kind != other.Declared.Kind,
		one.Declared.Full != other.Declared.Full, one.Declared.Table() != other.Declared.Table(),
		s.plan.Adjacency != plan.Adjacency, !reflect.DeepEqual(one.Columns().Names(), other.Columns().Names()):
		return ErrOtherDataset
	}
	return nil
}

// Close lets go of the files of the dataset.
func (s *Subject) Close() error { return s.files.Close() }

// Seed is what all secret randomness of a rehearsal follows from. Two rehearsals of one seed draw the same noise where
// their rows are equal up to a Change; each seed is for one audit and is not kept.
type Seed [32]byte

// NewSeed draws a seed, from the randomness of the operating system if what it has shown is to stay private.
func NewSeed(random io.Reader) (s Seed, err error) {
	_, err = io.ReadFull(random, s[:])
	return s, err
}

// Rehearsal is what a run would have released. The run has charged a ledger that is gone, and its folder is gone.
type Rehearsal struct {
	Record   *record.Run
	Released map[pipeline.Ref]pipeline.Table // every output that is not private, by stage and port, inside in memory
}

// Rehearse carries out the plan on changed rows. Nothing of it leaves: neither the ledger of the dataset nor its owner
// file is read or written, no table is sent to a server, and what it wrote is removed before it returns. The noise is
// as secret as the seed, and what is returned is as private as the rows where the caller knows the seed.
func (s *Subject) Rehearse(ctx context.Context, change Change, seed Seed) (*Rehearsal, error) {
	return s.rehearse(ctx, s.changed(change), seed)
}

// rehearse carries out a plan that changed returned.
func (s *Subject) rehearse(ctx context.Context, plan *compile.Plan, seed Seed) (_ *Rehearsal, err error) {
	outputs := &releases{made: map[pipeline.Ref]release{}}
	outputs.keep(plan)
	theatre, err := s.theatre(seed)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, theatre.clear()) }()
	result, err := runtime.Run(ctx, theatre.lay(plan), theatre.opts)
	if err != nil {
		return nil, err
	}
	released, err := outputs.read(ctx)
	return &Rehearsal{Record: result.Record, Released: released}, err
}

// changed returns the plan on changed rows, which sends no table anywhere.
func (s *Subject) changed(change Change) *compile.Plan {
	plan, data, spec := *s.plan, *s.plan.Plan, *s.plan.Spec
	declared := spec.Dataset.Declared
	spec.Dataset.Source = &edited{spec.Dataset.Source, declared, s.files, change}
	declared.Files, declared.Invented, declared.Where, declared.Program = nil, "", "", ""
	spec.Dataset.Declared, data.Dataset.Source = declared, declared
	spec.Experiment = nil
	plan.Plan, plan.Spec, plan.Steps = &data, &spec, slices.Clone(plan.Steps)
	for i := range plan.Steps {
		plan.Steps[i].Work.Send = nil
	}
	return &plan
}

// theatre is the folder of a rehearsal, and how a run is carried out there.
type theatre struct {
	disk disk.Disk
	dir  string
	opts runtime.Options
}

// theatre makes the folder of a rehearsal, which the user of this process alone can open.
func (s *Subject) theatre(seed Seed) (*theatre, error) {
	o := s.opts
	dir := filepath.Join(o.Out, fmt.Sprintf("rehearsal-%d", s.count.Add(1)))
	if err := o.Disk.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return &theatre{o.Disk, dir, runtime.Options{Out: filepath.Join(dir, "runs"), Dir: o.Dir, Confine: o.Confine,
		Ledger: filepath.Join(dir, "ledger.jsonl"), Workers: o.Workers, Counting: o.Counting, Disk: o.Disk.Fading(),
		Version: o.Version, Build: cmp.Or(o.Build, "audit"), Log: slog.New(slog.DiscardHandler), Progress: o.Progress,
		Clock: func() time.Time { return s.began }, Random: rand.NewChaCha8(seed)}}, nil
}

// home is the name in the folder by which the dataset is known.
const home = "rows"

// lay returns a plan whose dataset lies in the folder.
func (t *theatre) lay(plan *compile.Plan) *compile.Plan {
	place := pipeline.Elsewhere(filepath.Join(t.dir, home))
	plan.Spec.Dataset.Declared.Home, plan.Plan.Dataset.Source.Home = place, place
	return plan
}

// clear removes the folder.
func (t *theatre) clear() error {
	if err := t.disk.RemoveAll(t.dir); err != nil {
		return fmt.Errorf("%s: holds private rows and must be removed by hand: %w", t.dir, err)
	}
	return nil
}

// releases keeps what the stages of a run make for others.
type releases struct {
	mu   sync.Mutex
	made map[pipeline.Ref]release
}

// release is an output and its planned header.
type release struct {
	planned pipeline.Header
	pipeline.Table
}

// keep has every stage of a plan show its outputs that are not private.
func (r *releases) keep(plan *compile.Plan) {
	for i := range plan.Steps {
		step := &plan.Steps[i]
		run := step.Work.Run
		step.Work.Run = func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			out, err := run(ctx, env, in)
			r.mu.Lock()
			defer r.mu.Unlock()
			for port, h := range step.Work.Out {
				if t, made := out[port]; made && h.Class != pipeline.Private {
					r.made[pipeline.Ref{Stage: step.ID, Port: port}] = release{h, t}
				}
			}
			return out, err
		}
	}
}

// read returns the outputs in memory, while the folder of their run is there.
func (r *releases) read(ctx context.Context) (map[pipeline.Ref]pipeline.Table, error) {
	inside := map[pipeline.Ref]pipeline.Table{}
	for ref, output := range r.made {
		h, err := output.planned.Filled(output.Domain)
		if err == nil {
			inside[ref], err = inMemory(ctx, h, output.Table)
		}
		if err != nil {
			return nil, fmt.Errorf("stages.%s: %w", ref.Stage, err)
		}
	}
	return inside, nil
}

func inMemory(ctx context.Context, h pipeline.Header, t pipeline.Table) (pipeline.Table, error) {
	if h.Form.IsFiles() {
		list, err := pipeline.ReadFiles(ctx, t)
		return pipeline.WriteFiles(h, list), err
	}
	t.Header = h
	rows, err := t.Collect(ctx)
	return pipeline.FromRecords(h, rows), err
}
