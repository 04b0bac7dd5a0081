package prep

import (
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
)

// FuzzFormula: whatever stands in a formula, planning gives an error or a run that no row ends.
func FuzzFormula(f *testing.F) {
	for _, s := range []string{`age > 3`, `rank(grade) + 1`, `missing(age) ? 1 : 2`, `col("age") ** 2`,
		`region in ["north"]`, `smoker and not (age < 2)`,
		`patient_id matches "a+"`, `[1,2][age]`, `age % visits`, `{"a": 1}.a`, `age | abs`, `"a"[0:1]`,
		`-0x7fffffffffffffff - visits`} {
		f.Add(s)
	}
	in := clinicTable()
	f.Fuzz(func(t *testing.T, formula string) {
		s := &Filter{Keep: formula, Missing: "drop"}
		if _, err := s.Plan(pipeline.Headers{"in": in.Header}); err != nil {
			return
		}
		out, err := pipelinetest.Run(t, s, pipelinetest.Env(1), pipeline.Tables{"in": pipeline.FromRecords(in.Header,
			in.Rows)})
		if err != nil {
			t.Fatalf("planned, but: %v", err)
		}
		if _, err := out["out"].Collect(t.Context()); err != nil {
			t.Errorf("a row ends the run: %v", err)
		}
	})
}
