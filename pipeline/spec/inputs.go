package spec

import (
	"weir/pipeline"
)

// fillInputs writes out the inputs that a spec leaves to their defaults, so that
// the canonical form shows them.
func fillInputs(stages []Stage) {
	for i := range stages {
		s := &stages[i]
		for p := range s.Kind.In {
			port := &s.Kind.In[p]
			if len(s.Inputs[port.Name]) == 0 && s.Stage != nil {
				if refs := defaultRefs(stages[:i], port); len(refs) > 0 {
					s.Inputs[port.Name] = refs
				}
			}
		}
	}
}

// defaultRefs: `from` is the stage above; a port that takes many reads every
// stage above whose first output has its form.
func defaultRefs(above []Stage, port *pipeline.Port) []pipeline.Ref {
	if port.Many {
		var refs []pipeline.Ref
		for _, s := range above {
			if port.Takes(s.Kind.Out[0].Form) {
				refs = append(refs, pipeline.Ref{Stage: s.ID})
			}
		}
		return refs
	}
	if port.Name != "in" || port.Optional {
		return nil
	}
	if len(above) == 0 {
		return []pipeline.Ref{{Stage: pipeline.DatasetID}}
	}
	return []pipeline.Ref{{Stage: above[len(above)-1].ID}}
}
