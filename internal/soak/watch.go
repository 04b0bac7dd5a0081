package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy"
)

// captured are the private tables of a run, as each stage read and made them.
type captured struct {
	mu      sync.Mutex
	in, out map[string]map[string]arrow.Record // by stage and port
}

// look has every stage of a plan show its tables.
func (c *captured) look(plan *compile.Plan) {
	c.in, c.out = map[string]map[string]arrow.Record{}, map[string]map[string]arrow.Record{}
	for i := range plan.Steps {
		step := &plan.Steps[i]
		run := step.Work.Run
		step.Work.Run = func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			out, err := run(ctx, env, in)
			c.keep(ctx, c.in, step.ID, in, nil)
			c.keep(ctx, c.out, step.ID, out, step.Work.Out)
			return out, err
		}
	}
}

// keep reads tables once more: all of them can be opened again. One that ends in an
// error is not kept; the run comes to the same error.
func (c *captured) keep(ctx context.Context, to map[string]map[string]arrow.Record, stage string, tables pipeline.Tables, headers pipeline.Headers) {
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
	to[stage] = records
}

// residuals finds noise that stands on two values: what comes out of two uses less
// what went in is never the same twice.
type residuals struct {
	mu     sync.Mutex
	seen   map[string]string // use by noise
	faults []string
}

// enough numbers of noise are never the same by chance.
const enough = 3

type residualProbe struct {
	privacy.Probe
	of    *residuals
	stage string
}

func (r *residuals) of(stage string, p privacy.Probe) privacy.Probe {
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
	if _, additive := r.Mechanism.(privacy.Additive); additive && len(in) == len(out) && len(in) >= enough {
		p.of.note(fmt.Sprintf("%s: use %d of %s", p.stage, r.Use+1, r.Spend), in, out)
	}
	return p.Probe.Release(r)
}

func (r *residuals) note(use string, in, out []float64) {
	var noise []float64
	for i := range in {
		noise = append(noise, out[i]-in[i])
	}
	key := fmt.Sprint(noise)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[string]string{}
	}
	if before, ok := r.seen[key]; ok && !zero(noise) {
		r.faults = append(r.faults, use+" has the noise of "+before)
	}
	r.seen[key] = use
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
