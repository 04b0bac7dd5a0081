package stages

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
)

// stays returns made-up rows of patients: age, days and ward; days may be missing.
func stays(n int) pipelinetest.Input {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{0, 100}},
		{Name: "days", Type: domain.Numeric, Bounds: &[2]float64{0, 30}, Nullable: true},
		{Name: "ward", Type: domain.Categorical, Categories: []string{"north", "south", "west"}},
	}}
	columns := make([][]any, 3)
	for i := range n {
		row := []any{30 + i*7%11, any(4.5 + float64(i*5%9)), []string{"north", "south"}[i%3/2]}
		if i%10 == 4 {
			row[1] = nil
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

// kind returns a kind of the models, by name.
func kind(t *testing.T, name string) pipeline.Kind {
	t.Helper()
	for _, k := range modelKinds() {
		if k.Name == name {
			return k
		}
	}
	t.Fatalf("there is no kind %s", name)
	return pipeline.Kind{}
}

// set returns a stage of a kind with settings in JSON.
func set(t *testing.T, k pipeline.Kind, settings string) func() pipeline.Stage {
	t.Helper()
	return func() pipeline.Stage {
		s := k.New()
		if err := json.Unmarshal([]byte(settings), s); err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// models returns what kinds that tell how probable a row is release of 40 rows.
func models(t *testing.T) map[string]pipelinetest.Input {
	t.Helper()
	list := map[string]pipelinetest.Input{}
	for name, settings := range map[string]string{"independent": "{}", "mst": "{}", "auto": "{}",
		"privbayes": `{"bins": 3}`,
		"mixture":   `{"steps": 12, "expected_batch_size": 10, "sampling_rate": 0.25, "components": 2, "stratify": ["ward"]}`} {
		k := kind(t, name)
		table, _ := pipelinetest.Learner{Kind: k, Stage: set(t, k, settings)}.Trained(t, stays(40))
		r, err := pipelinetest.Collect(t.Context(), table)
		if err != nil {
			t.Fatal(err)
		}
		list[name] = pipelinetest.Input{Header: table.Header, Rows: r}
	}
	return list
}

// TestRemovalByModels: the contract of kinds and the replay on neighbouring tables, of removal
// before a model, by number and above a score, and of drawn rows, by models of every family that
// tells how probable a row is.
func TestRemovalByModels(t *testing.T) {
	remove := kind(t, "remove_anomalies")
	for name, detector := range models(t) {
		add := func(h *pipeline.Header) { h.Terms.Adjacency, h.Rows = privacy.AddRemove, 0 }
		group := func(h *pipeline.Header) { h.Stability, h.Rows = pipeline.Rows(2), 0 }
		drawRows := func(h *pipeline.Header) { h.Class, h.Stability, h.Rows = pipeline.Released, pipeline.Unbounded(), 0 }
		for what, c := range map[string]struct {
			settings string
			change   func(*pipeline.Header)
		}{
			"the highest":      {`{"placement": "pre", "remove": 5}`, add},
			"those of groups":  {`{"placement": "pre", "remove": 5}`, group},
			"above":            {`{"placement": "pre", "above": 8}`, add},
			"above of groups":  {`{"placement": "pre", "above": 8}`, group},
			"of rows exchange": {`{"placement": "pre", "above": 8}`, func(h *pipeline.Header) {}},
			"of drawn rows":    {`{"placement": "post", "remove": 5}`, drawRows},
		} {
			in := stays(40)
			c.change(&in.Header)
			pipelinetest.Check(t, remove, pipelinetest.Case{Name: name + ": " + what, Kinds: modelKinds(),
				Stage: set(t, remove, c.settings), In: map[string]pipelinetest.Input{"in": in, "detector": detector}})
		}
	}
}

// TestFarRowIsFoundByModels: the one row of 40 that the model never saw the like of goes first.
func TestFarRowIsFoundByModels(t *testing.T) {
	remove := kind(t, "remove_anomalies")
	for name, detector := range models(t) {
		in := stays(40)
		d := in.Header.Domain
		far := pipelinetest.Rows(d, []any{99}, []any{29.5}, []any{"west"})
		table := pipeline.FromRecords(in.Header, in.Rows.NewSlice(0, 20), far, in.Rows.NewSlice(20, 39))
		out, err := pipelinetest.Run(t, set(t, remove, `{"placement": "pre", "remove": 1}`)(),
			pipelinetest.Env(1, modelKinds()...),
			pipeline.Tables{"in": table, "detector": pipelinetest.Artifact(detector.Header, detector.Rows)})
		if err != nil {
			t.Fatal(err)
		}
		r, err := out["out"].Collect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ages := r.Column(0).(*array.Int64).Int64Values(); len(ages) != 39 || slices.Max(ages) == 99 {
			t.Errorf("%s: of %d rows that are left the greatest age is %d", name, len(ages), slices.Max(ages))
		}
	}
}

// TestKindsThatScore: marginals, mixtures and detectors score rows; a model of other columns is refused as a detector
// of other columns is.
func TestKindsThatScore(t *testing.T) {
	remove := set(t, kind(t, "remove_anomalies"), `{"placement": "pre", "remove": 5}`)()
	plan := func(h pipeline.Header) string {
		_, err := remove.Plan(pipeline.Headers{"in": stays(40).Header, "detector": h})
		if err == nil {
			return "no error"
		}
		return err.Error()
	}
	net := pipeline.Header{Form: pipeline.FormModel, Domain: &domain.Domain{},
		Class: pipeline.Released}
	want := []string{"aim", "anomaly_detector", "anomaly_forest", "auto", "independent", "marginal_tree", "marginals_from",
		"mixture", "mst", "privbayes"}
	if got := pipeline.ReadersOf(modelKinds()).Scoring(); !slices.Equal(got, want) {
		t.Errorf("rows are scored by %v, must be %v", got, want)
	}
	other := stays(40).Header.Domain.Clone()
	other.Columns[0].Bounds = &[2]float64{0, 120}
	net.Domain, net.Scores = other, true
	if got := plan(net); !strings.Contains(got, "column age has other bounds, must be as the detector has it: [0 120]") {
		t.Errorf("error %s", got)
	}
}
