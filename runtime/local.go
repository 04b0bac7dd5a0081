package runtime

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/privacy"
	"weir/runtime/pay"
)

// errNoRun is what a stage hears that wants noise or files outside a run.
var errNoRun = errors.New("this needs a run: write it into a spec")

type noPayer struct{}

func (noPayer) Open(string) (*privacy.Handle, error) { return nil, errNoRun }

// LocalEnv lets a stage that spends nothing work outside a run, as `weir
// evaluate` does: it has public randomness and progress, and neither noise nor
// files.
func LocalEnv(stage string, seed uint64, workers int, log *slog.Logger, progress Reporter) *pipeline.Env {
	secret := pay.NewSecrets(pay.InsecureKey(seed), stage, true)
	return &pipeline.Env{
		Stage: stage, Workers: max(1, workers), Log: log, Mem: memory.DefaultAllocator,
		Progress: func(done, total int64) { progress.Progress(stage, done, total) },
		Metric:   func(string, float64) {},
		Rand:     func(purpose string) *rand.Rand { return PublicRand(seed, stage, purpose) },
		Secret:   secret.Stream,
		Privacy:  noPayer{},
		Files: func(string, *pipeline.CSV, *pipeline.Domain) (pipeline.Table, error) {
			return pipeline.Table{}, errNoRun
		},
		Create:  func(string) (io.WriteCloser, error) { return nil, errNoRun },
		Restore: func(string) (io.ReadCloser, error) { return nil, fs.ErrNotExist },
	}
}

// Safely turns a panic, which is a fault of weir, into an error that quotes
// nothing of the data.
func Safely[T any](f func() (T, error)) (out T, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("a fault of weir, not of the input; please report it")
		}
	}()
	return f()
}
