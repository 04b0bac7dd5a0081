package disclosure

import (
	"math"
	"testing"

	"weir/stages/internal/questiontest"
)

// Copies of the training rows are caught, fresh rows are not: a fair coin of
// 1500 throws leaves 0.43 to 0.57 with probability below 1e-6, and an AUROC of
// 1500 against 1500 leaves 0.44 to 0.56 likewise (standard deviation 0.0105).
func TestDisclosureCatchesCopies(t *testing.T) {
	copied := questiontest.Judge(t, Kinds()[0], questiontest.Copies())
	questiontest.Within(t, copied, questiontest.Bounds{"exact_matches": {1, 1}, "unique_matches": {1, 1}, "dcr.median": {0, 0}, "closer_to_train": {1, 1},
		"membership_auroc": {0.99, 1}, "membership_power": {0.99, 1}, "membership_power_low": {0.99, 1}, "attribute_inference_advantage": {0.2, 1}})
	fresh := questiontest.Judge(t, Kinds()[0], questiontest.Fresh())
	questiontest.Within(t, fresh, questiontest.Bounds{"exact_matches": {0, 0.01}, "closer_to_train": {0.43, 0.57}, "membership_auroc": {0.44, 0.56},
		"membership_power": {0, 0.12}, "attribute_inference_advantage": {-0.05, 0.05}})
}

// Without rows that the model saw there is no control, and nothing that needs
// one has a value.
func TestDisclosureWithoutControl(t *testing.T) {
	list := questiontest.Figures(t, Kinds()[0].New(), questiontest.Ports(questiontest.WardRows(1, 60), questiontest.WardRows(2, 60), nil))
	for _, key := range []string{"closer_to_train", "membership_auroc", "attribute_inference_advantage"} {
		if m := list[key]; !math.IsNaN(m.Value) || m.Note == "" {
			t.Errorf("%s is %v with note %q", key, m.Value, m.Note)
		}
	}
	if m, ok := list["exact_matches_control"]; ok {
		t.Errorf("matches of a control that is not there: %v", m.Value)
	}
}
