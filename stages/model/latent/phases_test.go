package latent

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/stages/model/artifact"
)

// TestPhasesResume: from each checkpoint of either phase, 2 of 8 steps and 4 of 12, a run ends
// in the same bits; one whose uses nobody took, or which is damaged, begins anew.
func TestPhasesResume(t *testing.T) {
	all := autoGANs()
	maps.Copy(all, rdpGANs())
	all["noise on decoder"] = pipelinetest.Learner{Kind: dpAutoGANKind(), Stage: func() pipeline.Stage {
		s := smallAuto()
		s.NoiseOn, s.Autoencoder.Average = "decoder", 0.5
		return s
	}}
	for name, l := range all {
		in := ward(t)
		whole, r := l.Trained(t, in)
		if len(r.States) != 6 {
			t.Fatalf("%s: %d checkpoints, must be 6", name, len(r.States))
		}
		for i, state := range r.States {
			for what, c := range map[string]struct {
				state []byte
				drawn int64
				more  int
			}{"known": {state, 1 << 40, 5 - i}, "of a stranger": {state, 0, 6},
				"damaged": {append(bytes.Clone(state[:len(state)-1]), state[len(state)-1]^1), 1 << 40, 6},
				"cut":     {state[:20], 1 << 40, 6}} {
				again := l.Pays(t, in)
				again.Resume, again.Ledger.Drawn = c.state, c.drawn
				resumed, err := again.Run(t, l.Stage(), in)
				must(t, err)
				if len(again.States) != c.more || !bytes.Equal(pipelinetest.Bytes(t, whole), pipelinetest.Bytes(t, resumed)) {
					t.Errorf("%s: from checkpoint %d, %s, a run writes %d more, must write %d, or gives another model", name, i, what,
						len(again.States), c.more)
				}
			}
		}
	}
}

// checkModel checks that a released model has so many weights, and is read back with its four columns.
func checkModel(t *testing.T, model pipeline.Table, weights int) {
	t.Helper()
	files, err := pipeline.ReadFiles(t.Context(), model)
	must(t, err)
	numbers := 0
	for _, f := range files {
		if strings.HasPrefix(f.Name, "weights/") {
			numbers += len(f.Data) / 4
		}
	}
	if numbers != weights || model.Class != pipeline.Released {
		t.Errorf("a %s model of %d weights, must have %d", model.Class, numbers, weights)
	}
	m, err := artifact.Read[artifact.Model](t.Context(), model, pipeline.ReadersOf(Kinds()))
	must(t, err)
	if len(m.Header().Domain.Columns) != 4 {
		t.Errorf("is read back with %d columns", len(m.Header().Domain.Columns))
	}
}
