package runtime

import (
	"context"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/privacy/noise"
	"weir/runtime/table"
)

// env is all that a running stage may touch.
func (r *run) env(ctx context.Context, step *pipeline.Step) *pipeline.Env {
	e := &pipeline.Env{
		Stage:    step.ID,
		Plan:     r.plan,
		Insecure: r.opts.Insecure != nil,
		Workers:  max(1, r.opts.Workers),
		Log:      r.opts.Log.With("stage", step.ID),
		Progress: func(done, total int64) { r.opts.Progress.Progress(step.ID, done, total) },
		Metric:   func(name string, value float64) { r.trace.add(step.ID, name, value) },
		Rand:     func(purpose string) *rand.Rand { return PublicRand(r.plan.Seed, step.ID, purpose) },
		Secret: func(purpose string) *noise.Stream {
			return noise.NewSource(r.key, "secret "+step.ID).Stream(purpose, 0)
		},
		Privacy: &spender{run: r, step: step},
		Mem:     memory.DefaultAllocator,
		Files:   r.files,
		Create:  func(name string) (io.WriteCloser, error) { return r.create(step, name) },
		Restore: func(name string) (io.ReadCloser, error) { return os.Open(r.scratch(step, name)) },
	}
	if step.NoiseMultiplier != nil {
		e.NoiseMultiplier = *step.NoiseMultiplier
	}
	return e
}

// files opens a further table of the spec.
func (r *run) files(path string, csv *pipeline.CSV, domain *pipeline.Domain) (pipeline.Table, error) {
	return table.Open(r.folder, path, csv, domain)
}

// scratch is where a stage's own files lie: under its recipe, so that only the
// same stage of the same run finds them again.
func (r *run) scratch(step *pipeline.Step, name string) string {
	return filepath.Join(r.cache.folder(r.recipe(step)), "scratch", filepath.Base(name))
}

func (r *run) create(step *pipeline.Step, name string) (io.WriteCloser, error) {
	f, err := createAtomic(r.scratch(step, name), 0o600)
	if err != nil {
		return nil, err
	}
	return closer{f}, nil
}
