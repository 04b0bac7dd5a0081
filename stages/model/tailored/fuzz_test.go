package tailored

import (
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/schema"
)

// FuzzQuestions: whatever list of questions a spec has, reading and planning end with
// problems or with a plan, and what is planned runs, on rows and on none.
func FuzzQuestions(f *testing.F) {
	for _, seed := range []string{
		`{queries: 3, questions: [{name: a, ask: count, where: [{column: region, in: [north]}, {column: age, from: 20, to: 30}]}]}`,
		`{questions: [{name: a, ask: mean, column: age}, {name: b, ask: quantile, column: dose, quantile: 0.5}]}`,
		`{questions: [{name: a, ask: histogram, column: weight, edges: [0, 60.5, .inf]}, {name: b, ask: histogram, column: region}]}`,
		`{questions: [{name: a, ask: histogram, column: weight, edges: [.nan, 1]}]}`,
		`{questions: [{name: a, ask: mean, column: score}, {name: a, ask: sum}], queries: 0}`,
		`{questions: [], noise_multiplier: 1e-300}`, `{questions: [{}]}`, `questions: [null]`, `[]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, problems := schema.Parse("fuzz", []byte(text))
		if len(problems) > 0 {
			return
		}
		s := queryKind().New().(*Query)
		if len(doc.Decode("", s)) > 0 {
			return
		}
		s.NoiseMultiplier = 0
		in := ward(20)
		if _, err := s.Plan(pipeline.Headers{"in": in.Header}); err != nil || s.Queries < 1 || len(s.Questions) > 50 {
			return
		}
		for _, rows := range []int64{0, 20} {
			table := pipeline.FromRecords(in.Header, in.Rows.NewSlice(0, rows))
			if _, err := pipelinetest.Run(t, s, pipelinetest.Env(1), pipeline.Tables{"in": table}); err != nil {
				t.Errorf("planned, and on %d rows: %v", rows, err)
			}
		}
	})
}
