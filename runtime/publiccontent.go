package runtime

import (
	"context"
	"fmt"

	"weir/runtime/dataset"
)

// checkPublic refuses a file that is declared public and has the content of the
// dataset, or of another one that runs here have read as private. It comes before
// any charge.
func (r *run) checkPublic(ctx context.Context) error {
	for i := range r.plan.Steps {
		step := &r.plan.Steps[i]
		for _, f := range step.Work.Files {
			if !f.Public {
				continue
			}
			if err := r.checkPublicFile(ctx, f.Path); err != nil {
				return atStage(step.ID, err)
			}
		}
	}
	return nil
}

func (r *run) checkPublicFile(ctx context.Context, name string) error {
	digest, err := r.files.digest(ctx, name)
	if err != nil {
		return err
	}
	what, private := "the dataset itself", false
	if r.source.Path != "" {
		own, err := r.files.digest(ctx, r.plan.Spec.Dataset.File)
		if err != nil {
			return err
		}
		private = own == digest
	}
	if !private {
		if what, private, err = dataset.KnownPrivate(r.opts.owners(), digest); err != nil {
			return err
		}
	}
	if !private {
		return nil
	}
	return dataset.Refusal{Err: fmt.Errorf("file: %s has the content of %s, must be a file that holds no private row (W13)", name, what)}
}
