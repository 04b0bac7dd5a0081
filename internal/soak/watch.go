package main

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy"
	"weir/privacy/noise"
)

// captured are the private tables of a run, as each stage read and made them, and its secret draws.
type captured struct {
	mu      sync.Mutex
	in, out map[string]map[string]arrow.Record // by stage and port
	secrets map[string][2]uint64               // by stage: what its secret begins with, which no other one does
}

// look has every stage of a plan show its tables and its secrets.
func (c *captured) look(plan *compile.Plan, m manner) {
	c.in, c.out, c.secrets = map[string]map[string]arrow.Record{}, map[string]map[string]arrow.Record{},
		map[string][2]uint64{}
	for i := range plan.Steps {
		step := &plan.Steps[i]
		run := step.Work.Run
		step.Work.Run = func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			env.Secret = c.noteSecret(step.ID, m.secret(step.ID, env.Secret))
			out, err := run(ctx, env, in)
			c.keep(ctx, c.in, step.ID, in, nil)
			c.keep(ctx, c.out, step.ID, out, step.Work.Out)
			return out, err
		}
	}
}

// noteSecret notes which secret a stage is given: by 128 bits of it, which the stage goes without.
func (c *captured) noteSecret(stage string, secret func(string) *noise.Stream) func(string) *noise.Stream {
	return func(purpose string) *noise.Stream {
		s := secret(purpose)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.secrets[stage] = [2]uint64{s.Uint64(), s.Uint64()}
		return s
	}
}

// keep reads tables once more: all of them can be opened again. One that ends in an
// error is not kept; the run comes to the same error.
func (c *captured) keep(ctx context.Context, dst map[string]map[string]arrow.Record, stage string,
	tables pipeline.Tables, headers pipeline.Headers) {
	records := map[string]arrow.Record{}
	for port, t := range tables {
		h := t.Header
		if headers != nil {
			h = headers[port]
		}
		if h.Form != pipeline.FormTable || h.Class != pipeline.Private || t.Open == nil {
			continue
		}
		if r, err := t.Collect(ctx); err == nil {
			records[port] = r
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	dst[stage] = records
}

// stored takes over what an earlier run saw of the stages that this one did not carry out: it has found
// their outputs in the cache.
func (c *captured) stored(earlier *captured) {
	for stage, tables := range earlier.in {
		if _, own := c.in[stage]; !own {
			c.in[stage], c.out[stage] = tables, earlier.out[stage]
		}
	}
}

// residuals finds noise that stands on two values: what comes out of two uses less
// what went in is never the same twice.
type residuals struct {
	mu     sync.Mutex
	seen   map[string]residual // by noise
	faults []string
}

// residual is a use, and what went into it.
type residual struct{ use, in string }

// enough bits of noise are never the same by chance: of a million uses, all pairs together have two alike
// once in 2^20.
const enough = 60

type residualProbe struct {
	privacy.Probe
	of    *residuals
	stage string
}

func (r *residuals) probeFor(stage string, p privacy.Probe) privacy.Probe {
	probe := residualProbe{p, r, stage}
	if w, ok := p.(privacy.Watcher); ok {
		return struct {
			residualProbe
			streams
		}{probe, w}
	}
	return probe
}

// streams is the half of a privacy.Watcher that only looks on.
type streams interface {
	Stream(spend string, use int64, purpose string, index uint64)
}

// Release notes the noise of a use on the first of the two tables.
func (p residualProbe) Release(r privacy.Released) any {
	in, out := floats(r.In), floats(r.Out)
	if m, additive := r.Mechanism.(privacy.Additive); additive && len(in) == len(out) && bits(m, in, out) >= enough {
		p.of.note(fmt.Sprintf("%s: use %d of %s", p.stage, r.Use+1, r.Spend), in, out)
	}
	return p.Probe.Release(r)
}

// bits is how many bits of noise a use has at least: of whole numbers those that a Gaussian rounded to
// integers collides with, log2(2 sigma sqrt(pi)) each, and of others twenty. At epsilon inf nothing is added
// and nothing clipped, so that a training may diverge: what its uses share is then NaN less NaN, and no noise.
func bits(m privacy.Additive, in, out []float64) (sum float64) {
	for i := range in {
		switch d := out[i] - in[i]; {
		case !(m.Deviation() > 0):
		case d == math.Trunc(d):
			sum += math.Max(0, bitmath.Log2(2*math.Sqrt(math.Pi)*m.Deviation()))
		default:
			sum += 20
		}
	}
	return sum
}

func (r *residuals) note(use string, in, out []float64) {
	var sample []float64
	for i := range in {
		sample = append(sample, out[i]-in[i])
	}
	key := fmt.Sprint(sample)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[string]residual{}
	}
	current := residual{use, fmt.Sprint(in)}
	if before, ok := r.seen[key]; ok && !zero(sample) && before != current { // a run that is continued draws its own again
		r.faults = append(r.faults, use+" has the noise of "+before.use)
	}
	r.seen[key] = current
}

func zero(list []float64) bool {
	for _, x := range list {
		if x != 0 {
			return false
		}
	}
	return true
}

func floats(x any) []float64 {
	var list []float64
	switch x := x.(type) {
	case []float64:
		list = x
	case []float32:
		for _, v := range x {
			list = append(list, float64(v))
		}
	case []int64:
		for _, v := range x {
			list = append(list, float64(v))
		}
	}
	return list
}
