package anomaly

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
)

func learner() pipelinetest.Learner {
	return pipelinetest.Learner{Kind: anomalyDetectorKind(), Stage: func() pipeline.Stage { return small() }}
}

// TestDetectorSpendsThePlan: a run pays once, and exactly the event that was planned: 12
// steps at rate 0.25.
func TestDetectorSpendsThePlan(t *testing.T) {
	_, r := learner().Trained(t, visitors(40)) // closes its ledger: opened once, used as planned
	want := privacy.Event(privacy.Repeated{Count: 12, Event: privacy.PoissonSampled{SamplingRate: 0.25,
		Event: privacy.Gaussian{NoiseMultiplier: 1.5}}})
	if len(r.Ledger.Plan) != 1 {
		t.Fatalf("%d spends, must be 1", len(r.Ledger.Plan))
	}
	if diff := cmp.Diff(want, r.Ledger.Plan[0].Event.Event); diff != "" {
		t.Errorf("planned (-want +got):\n%s", diff)
	}
	if n := r.Ledger.Taken("train"); n != 12 {
		t.Errorf("%d steps are used, must be 12", n)
	}
}

// TestDetectorResumes: from each checkpoint, by a payer who knows that its noise was drawn.
func TestDetectorResumes(t *testing.T) { learner().Resumes(t, visitors(40), 2) }

// TestDetectorHoldsColumnsAndWeights: 8 numbers a row (age 1, weight 2, region 4, grade 1),
// 8 - floor(8/2) = 4 hidden units: 9*4 + 5*8 = 76 weights, and what is publicly known.
func TestDetectorHoldsColumnsAndWeights(t *testing.T) {
	in := visitors(40)
	in.Header.Domain.History = []domain.Transform{{Kind: "bounds", Params: []byte("{}"), Before: in.Header.Domain.Clone()}}
	detector, _ := learner().Trained(t, in)
	if detector.Class != pipeline.Released || detector.Form != pipeline.FormDetector {
		t.Errorf("the detector is a %s %s, must be a released detector", detector.Class, detector.Form)
	}
	files, err := pipeline.ReadFiles(t.Context(), detector)
	must(t, err)
	numbers := 0
	for _, f := range files {
		switch {
		case strings.HasPrefix(f.Name, "weights/"):
			numbers += len(f.Data) / 4
		case f.Name == "detector.json":
			want, err := json.Marshal(domain.Domain{Columns: in.Header.Domain.Columns})
			must(t, err)
			if string(f.Data) != string(want) {
				t.Errorf("says of itself %s, must say %s", f.Data, want)
			}
		case f.Name != "artifact.json":
			t.Errorf("holds %s", f.Name)
		}
	}
	if numbers != 76 {
		t.Errorf("holds %d weights, must hold 76", numbers)
	}
}

// read returns a detector as remove_anomalies has it, and a frame of a table.
func read(t *testing.T, detector pipeline.Table, in pipelinetest.Input) (artifact.Scorer, *columns.Frame) {
	t.Helper()
	d, err := artifact.Read[artifact.Scorer](t.Context(), detector, pipeline.ReadersOf(Kinds()))
	must(t, err)
	f, err := columns.Read(t.Context(), pipeline.FromRecords(in.Header, in.Rows))
	must(t, err)
	return d, f
}

// TestScoreIsTheSquaredError: of the net written out in float64, and to the last bit the
// row's own: alone, among others, and in another order.
func TestScoreIsTheSquaredError(t *testing.T) {
	in := visitors(300)
	detector := untrained(t, in.Header)
	d, f := read(t, detector, in)
	all, err := d.Scores(f)
	must(t, err)
	for i, want := range written(t, d.(*autoencoder), f) {
		if !(math.Abs(all[i]-want) < 1e-6) {
			t.Fatalf("row %d has score %g, must be %g", i, all[i], want)
		}
	}
	turned := make([]int, f.Rows)
	for i := range turned {
		turned[i] = f.Rows - 1 - i
	}
	other, err := d.Scores(f.Take(turned))
	must(t, err)
	for i, s := range all {
		alone, err := d.Scores(f.Slice(i, i+1))
		must(t, err)
		if alone[0] != s || other[f.Rows-1-i] != s {
			t.Errorf("row %d has score %g, alone %g, and %g in a table turned round", i, s, alone[0], other[f.Rows-1-i])
		}
	}
}

// written returns the scores of a detector, layer by layer.
func written(t *testing.T, m *autoencoder, f *columns.Frame) (scores []float64) {
	t.Helper()
	const in, hidden = 8, 4
	for i := range f.Rows {
		x := row(f, i)
		layer := func(src []float64, w []float32, units int) (y []float64) {
			for j := range units {
				sum := float64(w[len(src)*units+j])
				for k, v := range src {
					sum += v * float64(w[k*units+j])
				}
				y = append(y, 1/(1+math.Exp(-sum)))
			}
			return y
		}
		y := layer(layer(x, m.weights, hidden), m.weights[(in+1)*hidden:], in)
		sum := 0.0
		for j := range x {
			sum += (x[j] - y[j]) * (x[j] - y[j])
		}
		scores = append(scores, sum/in)
	}
	return scores
}

// row returns a row of visitors as the comment of autoencoder.go has it.
func row(f *columns.Frame, i int) []float64 {
	x := []float64{f.Columns[0].Numbers[i] / 100, (f.Columns[1].Numbers[i] - 30) / 100, 0, 0, 0, 0, 0,
		float64(f.Columns[3].Codes[i]) / 2}
	if math.IsNaN(x[1]) {
		x[1], x[2] = 0.5, 1
	}
	region := f.Columns[2].Codes[i]
	if region < 0 {
		region = 3
	}
	x[3+region] = 1
	return x
}

// TestPlaces: values outside their bounds go on, ten times the bounds' length and no
// further; of bounds with one value others are out of reach.
func TestPlaces(t *testing.T) {
	for want, c := range map[float32]struct{ x, lo, length float64 }{0: {30, 30, 100}, 1: {130, 30, 100},
		0.25: {55, 30, 100}, 2: {230, 30, 100},
		11: {1e9, 30, 100}, -10: {math.Inf(-1), 30, 100}} {
		if got := place(c.x, c.lo, c.length); got != want {
			t.Errorf("%g is at %g, must be at %g", c.x, got, want)
		}
	}
	if got := []float32{place(7, 7, 0), place(8, 7, 0), place(6, 7, 0)}; !slices.Equal(got, []float32{0, 11, -10}) {
		t.Errorf("of bounds [7, 7] the values 7, 8, 6 are at %v, must be at 0, 11, -10", got)
	}
}

// TestDetectorRefuses: what a detector cannot look at is a problem of the plan, all at once.
func TestDetectorRefuses(t *testing.T) {
	for want, change := range map[string]func(h *pipeline.Header){
		"column age is a number without bounds, must be one with bounds that are public": func(h *pipeline.Header) {
			h.Domain.Columns[0].Bounds = nil
		},
		"column region is without declared categories": func(h *pipeline.Header) {
			h.Domain.Columns[2].Categories = nil
		},
		"column grade is text": func(h *pipeline.Header) {
			h.Domain.Columns[3] = domain.Column{Name: "grade", Type: domain.Text}
		},
		"column grade is encoded": func(h *pipeline.Header) {
			h.Domain.Columns[3].Encoding = &domain.Encoding{Form: domain.OneHot, Width: 3}
		},
		"sampling_rate: is missing": func(h *pipeline.Header) { h.Rows = 0 },
		"GiB": func(h *pipeline.Header) {
			h.Domain.Columns[2].Categories = names(1 << 17)
		},
	} {
		in := visitors(40)
		change(&in.Header)
		s := small()
		s.SamplingRate = 0
		if _, err := s.Plan(pipeline.Headers{"in": in.Header}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, must say %s", err, want)
		}
	}
}

// TestForeignDetector: a detector from anyone is an error that says what is wrong, before
// memory is taken for what it claims.
func TestForeignDetector(t *testing.T) {
	h := visitors(1).Header
	parts := func() map[string][]byte {
		files, err := pipeline.ReadFiles(t.Context(), untrained(t, h))
		must(t, err)
		m := map[string][]byte{}
		for _, f := range files[1:] {
			m[f.Name] = slices.Clone(f.Data)
		}
		return m
	}
	if _, err := readAutoencoder(parts()); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(m map[string][]byte){
		"detector.json: unexpected end": func(m map[string][]byte) { m["detector.json"] = nil },
		"columns: is empty":             func(m map[string][]byte) { m["detector.json"] = []byte("{}") },
		"a number without bounds": func(m map[string][]byte) {
			m["detector.json"] = []byte(`{"columns": [{"name": "a", "type": "numeric"}]}`)
		},
		"weights: are fewer":       func(m map[string][]byte) { m["detector.json"] = wide(1 << 12) },
		`holds "other", must hold`: func(m map[string][]byte) { m["other"] = nil },
		"of 4 bytes each": func(m map[string][]byte) {
			m["weights/0.dense.bias"] = m["weights/0.dense.bias"][:3]
		},
		"are not all finite": func(m map[string][]byte) {
			copy(m["weights/0.dense.bias"],
				[]byte{0, 0, 0xc0, 0x7f})
		},
		"has 3 elements, must have 4": func(m map[string][]byte) {
			m["weights/0.dense.bias"] = m["weights/0.dense.bias"][:12]
		},
		"tensors, must be the 4 of the net": func(m map[string][]byte) { delete(m, "weights/2.dense.bias") },
		"tensor 2.dense.bias is missing": func(m map[string][]byte) {
			m["weights/x"] = m["weights/2.dense.bias"]
			delete(m, "weights/2.dense.bias")
		},
	} {
		m := parts()
		change(m)
		if _, err := readAutoencoder(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, must say %s", err, want)
		}
	}
}

// names returns n categories.
func names(n int) domain.Categories {
	list := make(domain.Categories, n)
	for i := range list {
		list[i] = strconv.Itoa(i)
	}
	return list
}

// wide returns the detector.json of a domain with n categories.
func wide(n int) []byte {
	d := domain.Domain{Columns: []domain.Column{{Name: "a", Type: domain.Categorical, Categories: names(n)}}}
	data, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	return data
}
