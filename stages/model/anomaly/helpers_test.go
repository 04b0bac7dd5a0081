package anomaly

import (
	"math/rand/v2"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/stages/model/internal/training"
)

// visitors returns a table of made-up rows: age near 40, weight near 70 and at times missing,
// region, and grade, which rises with age.
func visitors(n int) pipelinetest.Input {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{0, 100}},
		{Name: "weight", Type: domain.Numeric, Bounds: &[2]float64{30, 130}, Nullable: true},
		{Name: "region", Type: domain.Categorical, Categories: []string{"north", "south", "west"}, Nullable: true},
		{Name: "grade", Type: domain.Ordinal, Categories: []string{"low", "middle", "high"}},
	}}
	columns := make([][]any, 4)
	for i := range n {
		row := []any{35 + i*7%11, any(65.5 + float64(i*5%9)), any([]string{"north", "south"}[i%3/2]),
			[]string{"low", "middle"}[i*7%11/6]}
		if i%10 == 4 {
			row[1] = nil
		}
		if i%14 == 3 {
			row[2] = nil
		}
		for j, v := range row {
			columns[j] = append(columns[j], v)
		}
	}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1), Rows: int64(n),
		OwnRows: true,
		Terms:   pipeline.Terms{Adjacency: privacy.ReplaceOne, Claims: pipeline.ClaimsProven}})
	return pipelinetest.Input{Header: h, Rows: pipelinetest.Rows(d, columns...)}
}

// changed returns an input with another header.
func changed(in pipelinetest.Input, change func(*pipeline.Header)) pipelinetest.Input {
	change(&in.Header)
	return in
}

func addRemove(h *pipeline.Header) { h.Terms.Adjacency, h.Rows = privacy.AddRemove, 0 }

func group(h *pipeline.Header) { h.Stability = pipeline.Rows(2) }

func released(h *pipeline.Header) { h.Class, h.Stability = pipeline.Released, pipeline.Unbounded() }

// small returns a quick version of anomaly_detector.
func small() *Detector {
	s := anomalyDetectorKind().New().(*Detector)
	s.Sampling = training.Sampling{Steps: 12, ExpectedBatchSize: 10, SamplingRate: 0.25, MaxGradNorm: 0.1}
	s.CheckpointEvery = 5
	return s
}

// untrained returns a detector of a table's columns with weights that were drawn.
func untrained(t *testing.T, h pipeline.Header) pipeline.Table {
	t.Helper()
	n, err := autoencoderNet(h.Domain)
	must(t, err)
	out, err := packAutoencoder(detectorHeader(h), n, n.Init(rand.New(rand.NewPCG(1, 2))))
	must(t, err)
	return out
}

// detectorInput returns a detector as an input of a case.
func detectorInput(t *testing.T, detector pipeline.Table) pipelinetest.Input {
	t.Helper()
	r, err := pipelinetest.Collect(t.Context(), detector)
	must(t, err)
	return pipelinetest.Input{Header: detector.Header, Rows: r}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func number(n int64) *int64 { return &n }

func score(x float64) *float64 { return &x }
