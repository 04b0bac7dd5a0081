package runtime

import (
	"slices"
	"strings"

	"weir/pipeline"
	"weir/pipeline/compile"
)

// secretName names the secret draws of a step under the secret of the dataset's content.
//
// A draw for each row in turn is private as long as the rows it falls to are one table: the proof of
// the stage couples one opening of that table, everyone but the changed unit keeping their draw. Over
// several runs it holds only if runs that share a draw meet equal rows in either of two neighbouring
// worlds. What a step reads is a function of the content of the dataset, of recipes, and of the noise
// that was drawn on the way. The first two are the secret's own and the recipe's; so the name adds the
// basis. A run that draws that noise anew meets other rows, and has draws of its own (docs/design/secrets.md).
func (r *run) secretName(step *compile.Step) string {
	return "secret " + r.recipes[step.ID] + r.basis(step)
}

// basis says whose noise a step stands on: the recipe of each paid step before it, with the commitment of the
// key that its noise is from. Those steps must be decided. It is "" where there are none. Noise, charges and
// secrets hold it in their names, so that one name meets the same rows in every run (docs/design/reuse.md).
func (r *run) basis(step *compile.Step) string {
	before := reads(r.plan, step)
	var lines []string
	for i := range r.plan.Steps {
		if paid := &r.plan.Steps[i]; before[paid.ID] && draws(paid) {
			lines = append(lines, "\n"+r.recipes[paid.ID]+" "+r.commitment(paid))
		}
	}
	slices.Sort(lines) // specs may name equal steps in any order
	return strings.Join(lines, "")
}

// commitment tells whose key the noise of a paid step is from.
func (r *run) commitment(paid *compile.Step) string {
	if from := r.from(paid); from != nil {
		return from.Commitment
	}
	return r.key.Commitment()
}

// reads lists the steps whose outputs reach a step, by whatever way.
func reads(plan *compile.Plan, step *compile.Step) map[string]bool {
	before := map[string]bool{}
	var follow func(*compile.Step)
	follow = func(s *compile.Step) {
		for _, refs := range s.Inputs {
			for _, ref := range refs {
				if ref.Stage != pipeline.DatasetID && !before[ref.Stage] {
					before[ref.Stage] = true
					follow(plan.Step(ref.Stage))
				}
			}
		}
	}
	follow(step)
	return before
}
