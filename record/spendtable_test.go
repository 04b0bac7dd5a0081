package record

import (
	"strings"
	"testing"

	"weir/privacy"
)

// TestNoiseIsThatOfTheStage: one number of noise stands beside each mechanism of a stage, and is not
// the noise of each: the head of the column says so.
func TestNoiseIsThatOfTheStage(t *testing.T) {
	scale := 4.3029
	s := plannedStage{ID: "learn"}
	s.NoiseMultiplier, s.Spends = &scale, []privacy.Line{{}, {}}
	if text := spendTable(planned{Stages: []plannedStage{s}}, ""); !strings.Contains(text,
		"| noise multiplier (stage) |") {
		t.Error(text)
	}
}
