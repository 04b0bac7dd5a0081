package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/privacy/noise"
	"weir/train"
)

// faults lists all that two runs on neighbouring tables must not show: any
// difference in what anyone may see, inputs of a mechanism that move by more than
// it pays for, tables that change by more than their headers say, and mechanisms
// that were not used as planned, on whichever table.
func faults(w *world, one, other *outcome) []string {
	list := append(broken(one), broken(other)...)
	list = append(list, one.noise.faults...)
	list = append(list, differences(one.seen, other.seen)...)
	c := newCoupling(w, one, other)
	list = append(list, other.frozen.Faults(w.adjacency, c.plan())...)
	return append(list, c.stabilityFaults()...)
}

// broken are faults that show on one table already.
func broken(o *outcome) []string {
	switch {
	case o.err == nil:
		return nil
	case errors.Is(o.err, privacy.ErrUses), errors.Is(o.err, noise.ErrReused), strings.Contains(o.err.Error(), "W14"),
		strings.Contains(o.err.Error(), "internal error in weir"):
		return []string{"the run breaks its plan: " + o.err.Error() + "\n" + o.panics}
	}
	return nil
}

func differences(before, current map[string]string) []string {
	var list []string
	all := maps.Clone(before)
	maps.Copy(all, current)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		a, wasSet := before[name]
		b, is := current[name]
		switch {
		case !wasSet || !is:
			list = append(list, fmt.Sprintf("%s is there on one table only", name))
		case a != b:
			list = append(list, fmt.Sprintf("%s differs: %s", name, firstDifference(a, b)))
		}
	}
	return list
}

// firstDifference shows where two texts part.
func firstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	show := func(s string) string { return s[max(0, min(len(s), i)-60):min(len(s), i+60)] }
	return fmt.Sprintf("at byte %d, %q becomes %q", i, show(a), show(b))
}

// unordered takes out of the files of a run which of several stages paid first:
// stages that run side by side reach the ledger in any order, whatever the rows
// are, and the hashes of its chain say which.
func unordered(seen map[string]string) map[string]string {
	out := map[string]string{}
	for name, text := range seen {
		switch {
		case filepath.Base(name) == "run.json":
			text = flow(stripped([]byte(text)))
		case strings.HasSuffix(name, ".jsonl"):
			lines := strings.Split(strings.TrimSpace(text), "\n")
			for i, line := range lines {
				lines[i] = flow(stripped([]byte(line)))
			}
			slices.Sort(lines)
			text = strings.Join(lines, "\n")
		}
		out[name] = text
	}
	return out
}

// stripped leaves the hashes of the ledger out of a JSON object.
func stripped(data []byte) any {
	var x any
	if json.Unmarshal(data, &x) != nil {
		return string(data)
	}
	prune(x)
	return x
}

func prune(x any) {
	switch x := x.(type) {
	case map[string]any:
		for _, key := range []string{"hash", "prev", "ledger_hash", "ledger_head"} {
			delete(x, key)
		}
		for _, v := range x {
			prune(v)
		}
	case []any:
		for _, v := range x {
			prune(v)
		}
	}
}

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
			before, current := c.one.tables.out[step.ID][port], c.other.tables.out[step.ID][port]
			if h.Form != pipeline.FormTable || h.Class != pipeline.Private || before == nil || current == nil {
				continue
			}
			if fault := pipelinetest.StabilityFault(h, c.world.adjacency, before, current); fault != "" {
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
