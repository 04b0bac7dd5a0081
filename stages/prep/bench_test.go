package prep

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// wide returns a table of 13 columns as in the Cardio data: numbers, whole numbers and
// categories, some outside their bounds; one batch of 65,536 rows, given `times`
// over.
func wide(times int) pipeline.Table {
	d := &domain.Domain{}
	rng := rand.New(rand.NewPCG(1, 1))
	const rows = 1 << 16
	var columns [][]any
	for i := range 13 {
		c := domain.Column{Name: fmt.Sprint("c", i), Type: domain.Numeric, Bounds: &[2]float64{-3, 3}, Step: 0.001}
		draw := func() any { return rng.NormFloat64() }
		switch {
		case i >= 9:
			c.Type, c.Bounds, c.Step, c.Categories = domain.Categorical, nil, 0, []string{"1", "2", "3"}
			draw = func() any { return c.Categories[rng.IntN(3)] }
		case i >= 4:
			c.Type, c.Bounds, c.Step = domain.Integer, &[2]float64{0, 200}, 0
			draw = func() any { return rng.IntN(201) }
		}
		values := make([]any, rows)
		for j := range values {
			values[j] = draw()
		}
		d.Columns, columns = append(d.Columns, c), append(columns, values)
	}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1)})
	record := pipelinetest.Rows(d, columns...)
	return pipeline.Table{Header: h, Open: func(ctx context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) {
			for range times {
				if !yield(record, ctx.Err()) || ctx.Err() != nil {
					return
				}
			}
		}
	}}
}

// BenchmarkStream10M takes 10 million rows of 13 columns through bounds, encode
// and decode, and prints rows a second and the greatest heap.
func BenchmarkStream10M(b *testing.B) {
	t := wide(153) // 153 * 65,536 = 10,027,008 rows
	for _, s := range []pipeline.Stage{&Bounds{Outside: "clip"}, &Encode{MinMax: [2]float64{-1, 1}, Missing: "error"},
		&Decode{To: "source"}} {
		out, err := pipelinetest.Run(b, s, pipelinetest.Env(1), pipeline.Tables{"in": t})
		if err != nil {
			b.Fatal(err)
		}
		t = out["out"]
	}
	var rows int64
	var peak uint64
	for b.Loop() {
		for r, err := range t.Open(b.Context()) {
			if err != nil {
				b.Fatal(err)
			}
			if rows += r.NumRows(); rows%(1<<20) == 0 {
				peak = max(peak, heap())
			}
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(peak)/(1<<20), "MiB-heap")
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
