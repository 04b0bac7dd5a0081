package evaluate

import (
	"strings"
	"testing"
)

// TestPairsAreBounded: of more pairs than max_pairs so many are drawn and measured, the figures are
// the figures of these pairs, and they say so; without the bound nothing is said.
func TestPairsAreBounded(t *testing.T) {
	tables := planted()
	all := judge(t, stage("associations", overrides{"measures": []string{"mixed", "covariance"}}), tables["constants"])
	some := judge(t, stage("associations", overrides{"measures": []string{"mixed", "covariance"}, "max_pairs": 2}),
		tables["constants"])
	listed := 0
	for key, m := range some {
		if strings.HasPrefix(key, "mixed_real.") {
			listed++
			if m.Value != all[key].Value {
				t.Errorf("%s is %v, of all pairs it is %v", key, m.Value, all[key].Value)
			}
		}
	}
	if listed != 2 {
		t.Errorf("%d pairs are listed, must be the 2 drawn", listed)
	}
	for _, key := range []string{"mixed_mean_absolute_difference", "covariance_frobenius_difference",
		"covariance_max_difference_real_train"} {
		if note := some[key].Note; !strings.Contains(note, "drawn at random") {
			t.Errorf("%s does not say that it is of a part: %q", key, note)
		}
		if note := all[key].Note; strings.Contains(note, "drawn at random") {
			t.Errorf("%s says that it is of a part: %q", key, note)
		}
	}
}
