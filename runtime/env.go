package runtime

import (
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/runtime/pay"
	"weir/runtime/table"
)

// env is all that a running stage may touch.
func (r *run) env(step *compile.Step, payer *pay.Payer, secrets *pay.Secrets) *pipeline.Env {
	return &pipeline.Env{
		Stage:    step.ID,
		Plan:     r.plan.View(),
		Insecure: r.opts.Insecure != nil,
		Workers:  max(1, r.opts.Workers),
		Log:      r.opts.Log.With("stage", step.ID),
		Progress: func(done, total int64) { r.opts.Progress.Progress(step.ID, done, total) },
		Metric:   func(name string, value float64) { r.trace.add(step.ID, name, value) },
		Rand:     func(purpose string) *rand.Rand { return PublicRand(r.plan.Seed, step.ID, purpose) },
		Secret:   secrets.Stream,
		Privacy:  payer,
		Mem:      memory.DefaultAllocator,
		Files:    r.opener(step),
		Create: func(name string) (io.WriteCloser, error) {
			return r.cache.Scratch(r.place(step)).Create(name, payer.Released)
		},
		Restore: func(name string) (io.ReadCloser, error) { return r.cache.Scratch(r.place(step)).Open(name) },
	}
}

// opener opens the further tables that the work of a step names, and no other: by
// them its class is judged.
func (r *run) opener(step *compile.Step) func(string, *pipeline.CSV, *pipeline.Domain) (pipeline.Table, error) {
	return func(path string, csv *pipeline.CSV, domain *pipeline.Domain) (pipeline.Table, error) {
		for _, f := range step.Work.Files {
			if f.Path == path {
				return table.Open(r.files, path, csv, domain)
			}
		}
		return pipeline.Table{}, fmt.Errorf("%s: is opened and is not in the stage's plan", path)
	}
}
