package pipelinetest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy/noise"
)

// Env is an environment with fixed randomness, no files and no budget, which reads what kinds released.
func Env(workers int, kinds ...pipeline.Kind) *pipeline.Env {
	source := noise.NewSource(noise.Key{1, 2, 3}, "conformance")
	return &pipeline.Env{
		Stage: "test", Workers: workers, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Progress: func(int64, int64) {}, Resumed: func(int64, int64) {}, Metric: func(string, float64) {},
		Rand:    func(purpose string) *rand.Rand { return rand.New(rand.NewPCG(7, placeOf(purpose))) },
		Secret:  func(purpose string) *noise.Stream { return stream(source, purpose) },
		Mem:     memory.DefaultAllocator,
		Readers: pipeline.ReadersOf(kinds),
		Files: func(path string, _ *pipeline.CSV, _ *domain.Domain) (pipeline.Table, error) {
			return pipeline.Table{}, fmt.Errorf("no file %s in a conformance test", path)
		},
		Create:  func(string) (io.WriteCloser, error) { return discard{&bytes.Buffer{}}, nil },
		Restore: func(string) (io.ReadCloser, error) { return nil, fs.ErrNotExist },
	}
}

// stream panics where a stage asks for the same secret twice: it would get other
// numbers, and never mean to.
func stream(source *noise.Source, purpose string) *noise.Stream {
	s, err := source.Stream(purpose, 0)
	if err != nil {
		panic(err)
	}
	return s
}

type discard struct{ io.Writer }

func (discard) Close() error { return nil }

func placeOf(purpose string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	return binary.LittleEndian.Uint64(h.Sum(nil))
}
