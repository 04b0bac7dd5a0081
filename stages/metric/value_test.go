package metric

import (
	"math"
	"testing"
)

func TestListIsNeverSilent(t *testing.T) {
	var list List
	list.Add("a", "", Of(math.NaN()))
	list.Add("b", "", Of(math.Inf(1)))
	for _, m := range list.Metrics {
		if !math.IsNaN(m.Value) || m.Note == "" {
			t.Errorf("%s is %v with note %q", m.Name, m.Value, m.Note)
		}
	}
}
