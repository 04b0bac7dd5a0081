package main

import (
	"math"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/train"
)

// coupling says of which stages the inputs can be compared.
//
// What is proven of a mechanism holds for the law of its output, and the proofs
// couple secret draws: everyone but the unit that changes keeps their coin. Under
// one key, draws are named by place, or by the hash of a unit. So a replay is that
// coupling exactly where
//   - a draw for each row (a Poisson sample, a shard or part by row) meets rows that
//     stand at the same place in both tables: the change is at the end, or is a
//     replacement that moves nobody;
//   - a draw for each unit meets units of the same names. Under add_remove that
//     always holds. Under replace_one the new unit has the draw of the old one only
//     where it has its name.
//
// Elsewhere the two runs are two draws from laws that are close, and what goes
// into a mechanism may differ by anything. Those stages, and all that reads them,
// are held to everything but distances.
type coupling struct {
	one, other *outcome
	world      *world
	lost       map[string]bool // stages whose outputs are of other draws
}

func newCoupling(w *world, one, other *outcome) *coupling {
	c := &coupling{one: one, other: other, world: w, lost: map[string]bool{}}
	for i := range one.plan.Steps {
		step := &one.plan.Steps[i]
		c.lost[step.ID] = c.inputLost(step) || !c.drawsAgree(step)
	}
	return c
}

func (c *coupling) inputLost(step *compile.Step) bool {
	for _, refs := range step.Inputs {
		for _, r := range refs {
			if c.lost[r.Stage] {
				return true
			}
		}
	}
	return false
}

// drawsAgree reports whether a stage that draws for rows or units draws alike.
func (c *coupling) drawsAgree(step *compile.Step) bool {
	byUnit := c.world.unit >= 0 && (step.Kind == "split" || step.Kind == "shard")
	switch {
	case step.Kind != "split" && !step.Work.Secret:
		return true
	case byUnit && c.world.adjacency == privacy.AddRemove:
		return true
	}
	return c.inPlace(step) && (!byUnit || c.world.sameUnit)
}

// inPlace reports whether all rows of a stage's private inputs that both tables
// have stand at the same place.
func (c *coupling) inPlace(step *compile.Step) bool {
	for port, r := range c.one.tables.in[step.ID] {
		o, ok := c.other.tables.in[step.ID][port]
		if !ok {
			return false
		}
		if !pipelinetest.InPlace(r, o) {
			return false
		}
	}
	return true
}

// plan is the priced mechanisms by stage, for pipelinetest.Frozen. What cannot be
// compared may move by anything.
func (c *coupling) plan() map[string][]pipeline.Planned {
	plan := map[string][]pipeline.Planned{}
	for i := range c.one.plan.Steps {
		step := &c.one.plan.Steps[i]
		for _, p := range step.Spends {
			if !c.comparable(step, p.Value) {
				p.Group = math.MaxInt
			}
			plan[step.ID] = append(plan[step.ID], p)
		}
	}
	return plan
}

func (c *coupling) comparable(step *compile.Step, m privacy.Mechanism) bool {
	if c.inputLost(step) || c.one.plan.Budget.Infinite() || step.Unproven != (privacy.Unproven{}) {
		return false // of what has no proof (claims: published) no distance is promised
	}
	if _, ok := m.(privacy.OnShards); ok || samplesAll(m) && !drawsForRows(step.Kind) {
		return true
	}
	return c.inPlace(step)
}

// drawsForRows: each row has a secret draw beside the one that samples it, the noise of
// its code, its generated partner or its dropout, which are named by place too.
func drawsForRows(kind string) bool {
	return kind == "dp_vae" || kind == "dp_auto_gan" || kind == "dp_gan"
}

// stabilityFaults holds all private tables of two runs against their headers.
func (c *coupling) stabilityFaults() []string {
	var faults []string
	for i := range c.one.plan.Steps {
		step := &c.one.plan.Steps[i]
		if c.lost[step.ID] {
			continue
		}
		for port, h := range step.Work.Out {
			before, now := c.one.tables.out[step.ID][port], c.other.tables.out[step.ID][port]
			if h.Form != pipeline.FormTable || h.Class != pipeline.Private || before == nil || now == nil {
				continue
			}
			if fault := pipelinetest.StabilityFault(h, c.world.adjacency, before, now); fault != "" {
				faults = append(faults, step.ID+"."+port+": "+fault)
			}
		}
	}
	return faults
}

// measured reports whether some mechanism's inputs were compared.
func (c *coupling) measured() (n int) {
	for i := range c.one.plan.Steps {
		step := &c.one.plan.Steps[i]
		for _, p := range step.Spends {
			if c.comparable(step, p.Value) {
				n++
			}
		}
	}
	return n
}

// samplesAll reports whether no row depends on a coin.
func samplesAll(m privacy.Mechanism) bool {
	d, ok := m.(train.DPSGD)
	return !ok || d.SamplingRate == 1
}
