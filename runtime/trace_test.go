package runtime

import (
	"encoding/json"
	"math"
	"testing"
)

// TestTraceHoldsAnyLoss: a loss that private rows made NaN or infinite is kept as null. It
// ends no run: whether one ends would tell of the rows.
func TestTraceHoldsAnyLoss(t *testing.T) {
	var tr watch
	for _, v := range []float64{1.5, math.NaN(), math.Inf(1), math.Inf(-1)} {
		tr.add("train", "loss", v)
	}
	text, err := json.Marshal(tr.lines)
	want := `[{"stage":"train","metric":"loss","value":1.5},{"stage":"train","metric":"loss","value":null},` +
		`{"stage":"train","metric":"loss","value":null},{"stage":"train","metric":"loss","value":null}]`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v, must be %s", text, err, want)
	}
}
