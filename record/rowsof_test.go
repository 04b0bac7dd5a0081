package record

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestSelectionsAreNamed: both documents say what the condition of a table is and that its
// shares are nobody's; text of a spec cannot end the code that it stands in.
func TestSelectionsAreNamed(t *testing.T) {
	r := sampled()
	for _, text := range []string{PrivacyStatement(r), Datasheet(r)} {
		if strings.Contains(text, "selection") || strings.Contains(text, "not held") {
			t.Errorf("a table without conditions is said to be a selection, or to break rules:\n%s", text)
		}
	}
	r.Plan = json.RawMessage(`{"findings": [{"rule": "W41", "level": "note", "stage": "train", "message": "rows may break a <= b"}],
		"stages": [{"id": "sample", "kind": "sample", "class": "released", "settings": {"where": {"ward": ["north", "so` + "`" + `uth"], "age": ["65.."]}}}]}`)
	lines := []string{
		"The table `sample` is a selection.** It holds only rows with `age = 65..`, `ward = north or so'uth`",
		"say nothing of the population"}
	lacks(t, PrivacyStatement(r), lines...)
	lacks(t, Datasheet(r), append(lines, "not held.** Stage `train`: rows may break a <= b")...)
}
