package anomaly

import (
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
)

// clinic returns a table of n rows: four numbers 2 around 30 in bounds of 0 and 100, and a sex.
// Row 5, where it is planted, lies 20 deviations away in each number.
func clinic(n int, planted bool) pipelinetest.Input {
	d := &domain.Domain{}
	var c [5][]any
	for j := range 4 {
		d.Columns = append(d.Columns, domain.Column{Name: fmt.Sprint("n", j), Type: domain.Numeric,
			Bounds: &[2]float64{0, 100}})
		for i := range n {
			v := 30 + []float64{-2, 2}[(i*7919+j*101)/(j+1)%2]
			if planted && i == 5 {
				v += 40
			}
			c[j] = append(c[j], v)
		}
	}
	d.Columns = append(d.Columns, domain.Column{Name: "sex", Type: domain.Boolean, Categories: []string{"f", "m"}})
	for i := range n {
		c[4] = append(c[4], []string{"f", "m"}[i%2])
	}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1), Rows: int64(n),
		OwnRows: true,
		Terms:   pipeline.Terms{Adjacency: privacy.ReplaceOne, Claims: pipeline.ClaimsProven}})
	return pipelinetest.Input{Header: h, Rows: pipelinetest.Rows(d, c[:]...)}
}

// TestPlantedRowRanksHighest: a detector at noise multiplier 1.5 gives the row that is 20
// deviations away the highest score of 1,000, whether it learned from it or not, and so it
// is the one that goes: before a model, and of drawn rows.
func TestPlantedRowRanksHighest(t *testing.T) {
	for _, learned := range []bool{false, true} {
		l := pipelinetest.Learner{Kind: anomalyDetectorKind(), Stage: func() pipeline.Stage {
			s := anomalyDetectorKind().New().(*Detector)
			s.Steps, s.ExpectedBatchSize = 100, 200
			return s
		}}
		detector, _ := l.Trained(t, clinic(1000, learned))
		for placement, change := range map[string]func(*pipeline.Header){"pre": func(*pipeline.Header) {}, "post": released} {
			in := changed(clinic(1000, true), change)
			out, err := pipelinetest.Run(t, &Remove{Placement: placement, Rows: number(1)}, pipelinetest.Env(1, Kinds()...),
				pipeline.Tables{"in": pipeline.FromRecords(in.Header, in.Rows), "detector": detector})
			must(t, err)
			r, err := out["out"].Collect(t.Context())
			must(t, err)
			if values := r.Column(0).(*array.Float64).Float64Values(); len(values) != 999 || slices.Max(values) > 32 {
				t.Errorf("%s, learned %t: %d rows are left, the highest value is %g", placement, learned, len(values),
					slices.Max(values))
			}
		}
	}
}
