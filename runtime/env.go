package runtime

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/runtime/book"
	"weir/runtime/table"
)

// env is all that a running stage may touch.
func (r *run) env(step *compile.Step, payer *book.Payer, secrets *book.Secrets) *pipeline.Env {
	return &pipeline.Env{
		Stage:    step.ID,
		Plan:     r.view(step),
		Insecure: r.opts.Insecure != nil,
		Workers:  max(1, r.opts.Workers),
		Counting: r.opts.Counting,
		Log:      r.opts.Log.With("stage", step.ID),
		Progress: func(done, total int64) { r.reached(step.ID, done, total) },
		Resumed:  func(done, total int64) { r.opts.Progress.Resumed(step.ID, done, total) },
		Metric:   func(name string, value float64) { r.trace.add(step.ID, name, value) },
		Rand:     func(purpose string) *rand.Rand { return PublicRand(r.seed(step), step.ID, purpose) },
		Secret:   secrets.Stream,
		Readers:  r.plan.Spec.Readers,
		Privacy:  payer,
		Mem:      memory.DefaultAllocator,
		Files:    r.opener(step),
		Create: func(name string) (io.WriteCloser, error) {
			return r.cache.Scratch(r.place(step)).Create(name, payer.Released)
		},
		Restore: func(name string) (io.ReadCloser, error) { return r.cache.Scratch(r.place(step)).Open(name) },
	}
}

// view is what of the plan a stage's recipe holds, and no more: what the stage makes may be used
// again under another plan.
func (r *run) view(step *compile.Step) *pipeline.Plan {
	switch {
	case step.Work.OfPlan:
		return r.plan.View()
	case step.Work.OfBudget:
		return &pipeline.Plan{Budget: r.plan.Budget, Delta: r.plan.Delta, Adjacency: r.plan.Adjacency}
	}
	return nil
}

// opener opens the further tables that the work of a step names, and no other: by
// them its class is judged.
func (r *run) opener(step *compile.Step) func(string, *pipeline.CSV, *domain.Domain) (pipeline.Table, error) {
	return func(path string, csv *pipeline.CSV, domain *domain.Domain) (pipeline.Table, error) {
		for _, f := range step.Work.Files {
			if f.Path == path {
				return table.Open(r.files, path, csv, domain)
			}
		}
		return pipeline.Table{}, fmt.Errorf("%s: the stage opens this file, which is not in the stage's plan", path)
	}
}

// PublicRand is public randomness: a function of the spec's seed, the stage and
// the purpose, so that it does not depend on what else runs.
func PublicRand(seed uint64, stage, purpose string) *rand.Rand {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	h := sha256.New()
	h.Write(b[:])
	h.Write([]byte(stage + "\x00" + purpose))
	return rand.New(rand.NewChaCha8([32]byte(h.Sum(nil))))
}

// errNoRun is what a stage hears that wants noise or files outside a run.
var errNoRun = errors.New("this needs a run; put the stage into a spec")

type noPayer struct{}

func (noPayer) Open(string) (*privacy.Handle, error) { return nil, errNoRun }

// LocalEnv lets a stage that spends nothing work outside a run, as `weir
// evaluate` does: it has public randomness and progress, and neither noise nor
// files.
func LocalEnv(stage string, seed uint64, workers int, log *slog.Logger, progress Reporter) *pipeline.Env {
	secret := book.NewSecrets(book.InsecureKey(seed), stage, true)
	return &pipeline.Env{
		Stage: stage, Workers: max(1, workers), Log: log, Mem: memory.DefaultAllocator,
		Progress: func(done, total int64) { progress.Progress(stage, done, total) },
		Resumed:  func(done, total int64) { progress.Resumed(stage, done, total) },
		Metric:   func(string, float64) {},
		Rand:     func(purpose string) *rand.Rand { return PublicRand(seed, stage, purpose) },
		Secret:   secret.Stream,
		Privacy:  noPayer{},
		Files: func(string, *pipeline.CSV, *domain.Domain) (pipeline.Table, error) {
			return pipeline.Table{}, errNoRun
		},
		Create:  func(string) (io.WriteCloser, error) { return nil, errNoRun },
		Restore: func(string) (io.ReadCloser, error) { return nil, fs.ErrNotExist },
	}
}

// Safely turns a panic, which is an internal error, into an error that quotes
// nothing of the data.
func Safely[T any](f func() (T, error)) (out T, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("internal error in weir, not in the input; please report it")
		}
	}()
	return f()
}
