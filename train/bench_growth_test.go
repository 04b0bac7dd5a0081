package train

import (
	"fmt"
	"runtime"
	"testing"
)

// BenchmarkGrowth is a private step at growing batches, then at growing nets; it
// reports the time per row and weight, which linear growth keeps level. `go run
// .ci/ratios.go` prints it beside that of half the size.
func BenchmarkGrowth(b *testing.B) {
	for _, batch := range []int{128, 256, 512, 1024} {
		b.Run(fmt.Sprintf("batch/%d", batch), func(b *testing.B) { benchGrowth(b, batch, 70, 35) })
	}
	for _, hidden := range []int{64, 128, 256, 512} {
		b.Run(fmt.Sprintf("hidden/%d", hidden), func(b *testing.B) { benchGrowth(b, 128, hidden, 32) })
	}
}

func benchGrowth(b *testing.B, batch int, hidden ...int) {
	c := benchCase{widths: append(append([]int{106}, hidden...), 1), batch: batch, rows: benchRows(1000, 106, 0, 0), loss: "score"}
	step, params := c.step("bench", b.N)
	b.ResetTimer()
	for t := range b.N {
		step(t)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(params*batch), "ns/row/weight")
}

// step returns a private step without noise drawn ahead, and the number of weights.
func (c benchCase) step(name string, steps int) (step func(t int), params int) {
	o, start := c.objective()
	d := newDescent(Adam(1e-4, 0.5, 0.9), start)
	cfg := DPSGD{MaxGradNorm: 1, NoiseMultiplier: 1, SamplingRate: 0.1, ExpectedBatchSize: float64(c.batch), Steps: steps}
	s, err := newStepper(paid(cfg, name), o, d.w, c.rows.Len())
	must(err)
	s.index = c.index()
	return func(t int) {
		drawn, err := s.begin(t)
		must(err)
		s.compute(d.w, s.index, false)
		s.addNoise(drawn)
		d.step(s.sum, 1/cfg.ExpectedBatchSize)
	}, o.Params()
}

// TestStepMemoryIsConstant: what a step allocates is the streams of its noise and
// examples, whatever the batch and the net, and none of it stays.
func TestStepMemoryIsConstant(t *testing.T) {
	if raced {
		t.Skip("allocations are not counted under the race detector")
	}
	rows := benchRows(1000, 106, 0, 0)
	for _, c := range []benchCase{
		{name: "small", widths: []int{106, 8, 1}, batch: 16, rows: rows, loss: "score"},
		{name: "wide", widths: []int{106, 256, 128, 1}, batch: 128, rows: rows, loss: "score"},
		{name: "long", widths: []int{106, 70, 35, 1}, batch: 700, rows: rows, loss: "score"},
		{name: "autoencoder", widths: []int{106, 60, 15, 60, 106}, batch: 64, rows: rows, loss: "bce"},
	} {
		step, params := c.step("memory", 1<<20)
		at := 0
		next := func() { step(at); at++ }
		next()                                                       // buffers are made when first needed
		if objects := testing.AllocsPerRun(50, next); objects > 20 { // a stream takes 16, its use the rest
			t.Errorf("%s: %g allocations a step, must be at most 20", c.name, objects)
		}
		if bytes := allocated(200, next) / 200; bytes > 8192 {
			t.Errorf("%s: %d bytes a step for %d weights, must be at most 8192", c.name, bytes, params)
		}
		if kept := kept(func() { allocated(2000/c.batch+100, next) }); kept > 1<<16 {
			t.Errorf("%s: %d bytes stay, must be none", c.name, kept)
		}
	}
	var hoard [][]float32
	if v := kept(func() { hoard = append(hoard, make([]float32, 1<<16)) }); v <= 1<<16 || len(hoard) != 1 {
		t.Errorf("%d bytes stay of 2^18 that are kept: the check is blind", v)
	}
}

// allocated is how many bytes count calls of f take from the heap.
func allocated(count int, f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range count {
		f()
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// kept is by how many bytes the live heap grows through f.
func kept(f func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}
