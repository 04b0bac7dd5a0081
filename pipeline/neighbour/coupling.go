package neighbour

import (
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy"
)

// Coupling says of which stages of two runs on neighbouring tables the inputs can be compared.
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
type Coupling struct {
	one, other *Watch
	units      Units
	lost       map[string]bool // stages whose outputs are of other draws
}

// Units is what is known of the units of two tables.
type Units struct {
	Named bool // a column names them
	Same  bool // none has another name in the other table
	// ByName reports whether a stage draws for each unit by its name alone; nil: none is known to.
	ByName func(*compile.Step) bool
}

// Couple compares a run with one on a neighbouring table.
func Couple(one, other *Watch, units Units) *Coupling {
	c := &Coupling{one: one, other: other, units: units, lost: map[string]bool{}}
	for i := range one.Plan.Steps {
		step := &one.Plan.Steps[i]
		c.lost[step.ID] = c.inputLost(step) || !c.drawsAgree(step)
	}
	return c
}

func (c *Coupling) inputLost(step *compile.Step) bool {
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
func (c *Coupling) drawsAgree(step *compile.Step) bool {
	if !c.one.drew[step.ID] && !c.other.drew[step.ID] && !step.Work.Secret {
		return true
	}
	if c.units.Named && c.units.ByName != nil && c.units.ByName(step) {
		return c.one.Plan.Adjacency == privacy.AddRemove || c.inPlace(step) && c.units.Same
	}
	return c.inPlace(step) && (c.units.Same || !c.units.Named || c.one.Plan.Adjacency == privacy.AddRemove)
}

// inPlace reports whether all rows of a stage's private inputs that both tables
// have stand at the same place.
func (c *Coupling) inPlace(step *compile.Step) bool {
	for port, r := range c.one.in[step.ID] {
		o, ok := c.other.in[step.ID][port]
		if !ok || !InPlace(r, o) {
			return false
		}
	}
	return true
}

// Faults lists what the mechanisms of the second run show and must not, and private tables that change by more than
// their headers say.
func (c *Coupling) Faults() []Fault {
	a := c.one.Plan.Adjacency
	chance := func(p Place, m privacy.Mechanism) bool { return !c.comparable(p, m) }
	faults := c.other.Frozen.FaultsBut(chance, a, c.spends())
	return append(faults, c.stabilityFaults()...)
}

// spends returns the priced mechanisms by stage.
func (c *Coupling) spends() map[string][]pipeline.Planned {
	plan := map[string][]pipeline.Planned{}
	for i := range c.one.Plan.Steps {
		plan[c.one.Plan.Steps[i].ID] = c.one.Plan.Steps[i].Spends
	}
	return plan
}

// Claims reports whether a distance is promised at all: of what has no proof (claims: published), and without privacy,
// none is.
func Claims(plan *compile.Plan, step *compile.Step) bool {
	return !plan.Budget.Infinite() && step.Unproven == (privacy.Unproven{})
}

// comparable reports whether the inputs of a use can be compared.
func (c *Coupling) comparable(place Place, m privacy.Mechanism) bool {
	step := c.one.Plan.Step(place.Stage)
	if step == nil || c.inputLost(step) || !Claims(c.one.Plan, step) {
		return false
	}
	if _, ok := m.(privacy.OnShards); ok {
		return true
	}
	if !Sampled(m, c.one.Plan.Adjacency) && !c.one.Frozen.DrawsForRows(place) && !c.other.Frozen.DrawsForRows(place) {
		return true
	}
	return c.inPlace(step)
}

// stabilityFaults holds all private tables of two runs against their headers.
func (c *Coupling) stabilityFaults() (faults []Fault) {
	for i := range c.one.Plan.Steps {
		step := &c.one.Plan.Steps[i]
		if c.lost[step.ID] {
			continue
		}
		for port, h := range step.Work.Out {
			before, after := c.one.out[step.ID][port], c.other.out[step.ID][port]
			if h.Form != pipeline.FormTable || h.Class != pipeline.Private || before == nil || after == nil {
				continue
			}
			if fault := StabilityFault(h, c.one.Plan.Adjacency, before, after); fault != "" {
				faults = append(faults, Fault{step.ID, "output " + port + ": " + fault})
			}
		}
	}
	return faults
}
