package compile

import (
	"strings"
	"testing"
)

// TestRowsThatStay: what a database computes or counts is planned, a stage that needs rows is refused, and what rests
// on it is not refused again. A sample is for private figures alone.
func TestRowsThatStay(t *testing.T) {
	const counted = "  train: {kind: learn, does: counts}\n"
	const measured = counted + "  draw: {kind: draw, rows: 9}\n  judge: {kind: judge, real: dataset, synthetic: draw}\n"
	for name, c := range map[string]struct {
		stages string
		sample string
		say    map[string]string // of stages
		want   string            // the one refusal, or ""
	}{
		"counted": {stages: counted, say: map[string]string{"train": "counted there"}},
		"computed and counted": {stages: "  few: {kind: drop, columns: [sex]}\n" + counted,
			say: map[string]string{"few": "computed there", "train": "counted there"}},
		"computed from rows": {stages: "  a: {kind: clean}\n  few: {kind: drop, columns: [sex]}\n  train: {kind: learn}\n",
			want: "stages.a: is of the kind clean, which reads rows, and rows of the dataset stay in a database"},
		"learnt from rows": {stages: "  train: {kind: learn}\n",
			want: "stages.train: is of the kind learn, which reads rows,"},
		"counts of one input": {stages: "  train: {kind: learn, does: counts, other: dataset}\n",
			want: "stages.train: is of the kind learn, which reads rows,"},
		"figures": {stages: measured, want: "stages.judge: is of the kind judge, which reads rows,"},
		"figures of a sample": {stages: measured, sample: "20",
			say: map[string]string{"judge": "reads a sample of at most 20 rows"}},
		"learnt from a sample": {stages: "  train: {kind: learn}\n", sample: "20",
			want: "stages.train: is of the kind learn, which reads rows,"},
	} {
		set := []string{"dataset.stays=true"}
		if c.sample != "" {
			set = append(set, "dataset.sample="+c.sample)
		}
		plan, err := compile(t, head+"stages:\n"+c.stages, set...)
		if c.want != "" {
			if err == nil || strings.Count(err.Error(), "stages.") != 1 || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), "; or dataset.database.rows: may_leave") {
				t.Errorf("%s: error %v, must be %s, and name the setting", name, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for stage, say := range c.say {
			if got := plan.Step(stage).Elsewhere; got != say {
				t.Errorf("%s: stage %s: %q, must be %q", name, stage, got, say)
			}
		}
	}
}

// TestUnitsThatStay: the first rows of a unit follow from an order, which a database does not have.
func TestUnitsThatStay(t *testing.T) {
	private := strings.Replace(head, "  rows_public: 1000\n", "", 1)
	stages := private + "stages:\n  few: {kind: drop, columns: [age]}\n  train: {kind: learn, does: counts}\n"
	unit := func(keep string) []string {
		return []string{"dataset.stays=true", "dataset.privacy_unit={column: age, max_rows: 2" + keep + "}"}
	}
	if _, err := compile(t, stages, unit(", keep: by_hash")...); err != nil {
		t.Error(err)
	}
	_, err := compile(t, stages, unit("")...)
	if err == nil || !strings.Contains(err.Error(), "dataset.privacy_unit.keep: is first, which goes by the order of "+
		"rows, and rows stay in a database, must be by_hash") {
		t.Errorf("error %v", err)
	}
	_, err = compile(t, stages+"  odd: {kind: drop, columns: [age]}\n  rows: {kind: learn, from: few}\n", unit("")...)
	for _, want := range []string{"dataset.privacy_unit.keep: is first", "stages.odd.from",
		"stages.rows: is of the kind learn, which reads rows,"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, must say %s beside all others", err, want)
		}
	}
}
