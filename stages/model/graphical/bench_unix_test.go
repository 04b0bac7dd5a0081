//go:build unix

package graphical

import (
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/bill"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/privacy/noise"
	"weir/stages/model/artifact"
)

// BenchmarkMechanism is marginal_tree from a table in memory to as many rows in memory, in
// CPU seconds (user and system) of its parts: measure (codes, histograms, choice of
// pairs), fit, and draw (the release packed and read back, rows drawn). adult is the
// training table of WEIR_DATA at epsilon .1, 1 and 10 (delta 1e-5, replace_one: the mu
// of docs/marginals.md), without a target; 10M is the same rows 307 times, 9,996,227 rows.
//
//	WEIR_DATA=... go test -run - -bench Mechanism -benchtime 5x ./stages/model/graphical
func BenchmarkMechanism(b *testing.B) {
	in := adult(b)
	for _, c := range []struct {
		name  string
		mu    float64
		times int
	}{{"adult/eps=.1", .03252, 1}, {"adult/eps=1", .26805, 1}, {"adult/eps=10", 2.00045, 1}, {"10M/eps=1", .26805, 307}} {
		b.Run(c.name, func(b *testing.B) {
			table := pipeline.FromRecords(in.Header, slices.Repeat([]arrow.Record{in.Rows}, c.times)...)
			table.Header.Rows *= int64(c.times)
			var watch stopwatch
			for b.Loop() {
				watch.lap(nil)
				f := measuredBy(b, table, 2/c.mu)
				watch.lap(&watch.measure)
				m, err := f.fit(b.Context(), Size{defaultSize}.limits(), 2)
				must(b, err)
				watch.lap(&watch.fit)
				packed, err := f.release(treeName, table.Header, m, defaultSize)
				must(b, err)
				drawAll(b, read(b, packed), table.Header.Rows)
				watch.lap(&watch.draw)
			}
			watch.report(b)
		})
	}
}

// measuredBy returns a table measured by marginal_tree, with noise of a multiplier.
func measuredBy(b *testing.B, t pipeline.Table, multiplier float64) *front {
	kind, s := pipeline.Kind{In: tableIn()}, marginalTreeKind().New().(*MarginalTree)
	w, err := s.Plan(pipeline.Headers{"in": t.Header})
	must(b, err)
	plan, err := bill.Price(&kind, pipeline.Headers{"in": t.Header}, w, multiplier, privacy.ReplaceOne)
	must(b, err)
	env := pipelinetest.Env(2)
	env.Privacy = &pipelinetest.Ledger{Key: noise.Key{4, 5}, Plan: plan}
	f, p, err := begin(b.Context(), env, t, 0)
	must(b, err)
	must(b, s.measured(b.Context(), env, f, p))
	return f
}

func drawAll(b *testing.B, m *released, rows int64) {
	next, err := m.Draw(artifact.Drawing{Rows: rows, Random: func(string) *rand.Rand {
		return rand.New(rand.NewPCG(1, 2))
	}})
	must(b, err)
	for ; rows > 0; rows -= artifact.BatchRows {
		_, err := next(int(min(rows, artifact.BatchRows)))
		must(b, err)
	}
}

// stopwatch sums CPU seconds by part.
type stopwatch struct{ measure, fit, draw, last float64 }

func (w *stopwatch) lap(dst *float64) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return
	}
	current := float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
	if dst != nil {
		*dst += current - w.last
	}
	w.last = current
}

func (w *stopwatch) report(b *testing.B) {
	n := float64(b.N)
	b.ReportMetric(w.measure/n, "measure-cpu-s")
	b.ReportMetric(w.fit/n, "fit-cpu-s")
	b.ReportMetric(w.draw/n, "draw-cpu-s")
	b.ReportMetric((w.measure+w.fit+w.draw)/n, "cpu-s")
}
