package generator

import (
	"fmt"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/schema"
	"weir/stages/model/artifact"
	"weir/train"
	"weir/train/net"
)

// MostSteps is how many generators of one training a model may hold.
const MostSteps = MostParts

// ReleaseSteps packs the generators of several steps of one training as an artifact of
// header h: one part each, of which rows are drawn from the last, or from that of the
// step that Model.At names.
func ReleaseSteps(h pipeline.Header, kind string, n *net.Net, kept []train.Iterate) (pipeline.Table, error) {
	if len(kept) == 1 {
		return Release(h, kind, Part{Share: 1, Net: n, Weights: kept[0].Weights})
	}
	var parts []Part
	var steps []int
	for _, k := range kept {
		parts, steps = append(parts, Part{Share: 1, Net: n, Weights: k.Weights}), append(steps, k.Step)
	}
	return release(h, kind, steps, parts)
}

// checkSteps: a step for each part, ascending, or none at all.
func (m *model) checkSteps() error {
	if m.Steps == nil {
		return nil
	}
	last := 0
	for i, step := range m.Steps {
		if step <= last || len(m.Steps) != len(m.Parts) {
			return fmt.Errorf("steps[%d]: is %d of %d, must be one step for each of %d parts, ascending from 1", i, step, len(m.Steps), len(m.Parts))
		}
		last = step
	}
	return nil
}

// drawn are the parts that rows are drawn from: with steps, the last.
func (m *model) drawn() []described {
	if n := len(m.Steps); n > 0 {
		return m.Parts[n-1:]
	}
	return m.Parts
}

// At implements artifact.Stepper.
func (m *model) At(step int) (artifact.Model, error) {
	if i, ok := slices.BinarySearch(m.Steps, step); ok {
		return &model{Domain: m.Domain, Parts: m.Parts[i : i+1]}, nil
	}
	var ps schema.Problems
	accepted := "one of " + strings.Trim(strings.ReplaceAll(fmt.Sprint(m.Steps), " ", ", "), "[]")
	if len(m.Steps) == 0 {
		accepted = "absent: the model holds its last step alone (release_every keeps others)"
	}
	ps.Add("step", fmt.Sprint(step), accepted)
	return nil, ps.Err()
}
