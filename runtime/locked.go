package runtime

import (
	"context"
	"errors"
	"fmt"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/runtime/dataset"
	"weir/runtime/files"
)

// Data is what a run reads, as far as a weir.lock says so.
type Data struct {
	ID, Version string // of the dataset; the version as declared
	Files       []PublicFile
	// Program reads the rows, in ProgramVersion; "" where weir does.
	Program, ProgramVersion string

	known *dataset.Identity // nil where rows are invented, which the id names
}

// PublicFile is a further file of a stage that holds no private row.
type PublicFile struct{ Stage, Path, Digest string }

// ReadData opens what a run of the plan would read, and says what it is. No stage runs and
// nothing is charged.
func ReadData(ctx context.Context, plan *compile.Plan, opts Options) (Data, error) {
	opts.locking = true
	held, source, err := openFiles(ctx, plan, opts)
	if err != nil {
		return Data{}, err
	}
	defer held.Close()
	defer source.Close()
	return dataOf(ctx, plan, held, source)
}

func dataOf(ctx context.Context, plan *compile.Plan, held *files.Held, source *opened) (Data, error) {
	d := Data{ID: source.ID, Version: source.Version, known: source.Known}
	if by, ok := source.Opened.(pipeline.ReadByProgram); ok {
		d.Program, d.ProgramVersion = by.Program()
	}
	for i := range plan.Steps {
		step := &plan.Steps[i]
		for _, f := range step.Work.Files {
			if !f.Public {
				continue
			}
			digest, err := held.Digest(ctx, f.Path)
			if err != nil {
				return d, atStage(step.ID, err)
			}
			d.Files = append(d.Files, PublicFile{step.ID, f.Path, digest})
		}
	}
	return d, nil
}

// CheckLock refuses content other than that with which the version was locked.
func (d Data) CheckLock() error {
	if d.known == nil {
		return nil
	}
	return inDataset(d.known.CheckLock())
}

// KeepLock keeps on the owner's side which content a lock of the version means.
func (d Data) KeepLock() error {
	if d.known == nil {
		return nil
	}
	return inDataset(d.known.KeepLock())
}

func inDataset(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("dataset: %w", err)
}

// locked asks opts.Locked, before anything begins. A dataset that nothing was known of
// until then is forgotten where the answer is no.
func (o Options) locked(ctx context.Context, plan *compile.Plan, held *files.Held, source *opened) error {
	if o.Locked == nil {
		return nil
	}
	d, err := dataOf(ctx, plan, held, source)
	if err == nil {
		err = o.Locked(d)
	}
	if err == nil && d.known != nil {
		err = inDataset(d.known.Refused())
	}
	if err != nil && d.known != nil {
		err = errors.Join(err, d.known.Forget())
	}
	return err
}
