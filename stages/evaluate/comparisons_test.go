package evaluate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
)

// comparisons are the kinds that compare real with synthetic rows by themselves.
func comparisons() []pipeline.Kind {
	return []pipeline.Kind{marginalsKind(), associationsKind(), projectionKind(), detectabilityKind(), disclosureKind()}
}

// ward is a made-up domain; patient is text, which no figure uses.
func ward() *pipeline.Domain {
	return &pipeline.Domain{Columns: []pipeline.Column{
		{Name: "age", Type: pipeline.Integer, Bounds: &[2]float64{18, 90}, Nullable: true},
		{Name: "pressure", Type: pipeline.Numeric, Bounds: &[2]float64{60, 240}, Nullable: true},
		{Name: "weight", Type: pipeline.Numeric, Nullable: true},
		{Name: "region", Type: pipeline.Categorical, Categories: []string{"north", "south", "west"}, Nullable: true},
		{Name: "smoker", Type: pipeline.Boolean, Categories: []string{"no", "yes"}, Nullable: true},
		{Name: "patient", Type: pipeline.Text, Nullable: true},
	}}
}

// wardRows draws n rows: pressure grows with age, smokers are rarer in the north.
func wardRows(seed uint64, n int) arrow.Record {
	rng := rand.New(rand.NewPCG(seed, 2))
	columns := make([][]any, 6)
	for range n {
		age, region := 18+rng.IntN(73), []string{"north", "south", "west"}[rng.IntN(3)]
		smoker := "no"
		if region != "north" && rng.IntN(2) == 0 {
			smoker = "yes"
		}
		row := []any{age, 100 + float64(age)/2 + 10*rng.NormFloat64(), 70 + 15*rng.NormFloat64(), region, smoker, "p"}
		for i, v := range row {
			if rng.IntN(20) == 0 {
				v = nil
			}
			columns[i] = append(columns[i], v)
		}
	}
	for i := range columns {
		if columns[i] == nil {
			columns[i] = []any{}
		}
	}
	return pipelinetest.Rows(ward(), columns...)
}

func wardInput(rows arrow.Record, class pipeline.Class) pipelinetest.Input {
	h := pipeline.Header{Class: class}
	if class == pipeline.Private {
		h.Stability = pipeline.Rows(1)
	}
	return pipelinetest.Input{Header: pipeline.TableHeader(ward(), h), Rows: rows}
}

// tablesOf are the ports of every comparison.
func tablesOf(real, synthetic, train arrow.Record) map[string]pipelinetest.Input {
	in := map[string]pipelinetest.Input{"real": wardInput(real, pipeline.Private), "synthetic": wardInput(synthetic, pipeline.Released)}
	if train != nil {
		in["real_train"] = wardInput(train, pipeline.Private)
	}
	return in
}

// judged runs a stage with its defaults and returns the metrics by key.
func judged(t *testing.T, s pipeline.Stage, in map[string]pipelinetest.Input) map[string]pipeline.Metric {
	t.Helper()
	tables, headers := pipeline.Tables{}, pipeline.Headers{}
	for port, i := range in {
		tables[port], headers[port] = pipeline.FromRecords(i.Header, i.Rows), i.Header
	}
	o, err := s.Plan(headers)
	if err != nil {
		t.Fatal(err)
	}
	if o.Out["out"].Class != pipeline.Private {
		t.Errorf("metrics are %s, must be private", o.Out["out"].Class)
	}
	out, err := pipelinetest.Run(t, s, pipelinetest.Env(2), tables)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pipeline.ReadMetrics(t.Context(), out["out"])
	if err != nil {
		t.Fatal(err)
	}
	byKey := map[string]pipeline.Metric{}
	for _, m := range list {
		if _, twice := byKey[m.Key()]; twice {
			t.Errorf("metric %s stands twice", m.Key())
		}
		byKey[m.Key()] = m
	}
	return byKey
}

// blank is rows with the named columns changed: missing throughout, or all equal
// to the value of the first row that has one.
func blank(rows arrow.Record, missing bool) arrow.Record {
	d := ward()
	columns := make([][]any, len(d.Columns))
	for i, c := range d.Columns {
		value := map[pipeline.ColumnType]any{pipeline.Integer: 40, pipeline.Numeric: 80.5, pipeline.Categorical: "west", pipeline.Boolean: "yes", pipeline.Text: "p"}[c.Type]
		if missing {
			value = nil
		}
		for range rows.NumRows() {
			columns[i] = append(columns[i], value)
		}
	}
	return pipelinetest.Rows(d, columns...)
}

// Every figure of odd tables is a value or has a stated reason.
func TestComparisonsOfOddTables(t *testing.T) {
	usual := wardRows(1, 40)
	odd := map[string]arrow.Record{
		"no rows": wardRows(1, 0), "one row": usual.NewSlice(0, 1), "two rows": usual.NewSlice(0, 2),
		"all missing": blank(usual, true), "all constant": blank(usual, false), "usual": usual, "huge": huge(40),
	}
	for _, k := range comparisons() {
		for realName, real := range odd {
			for synthName, synth := range odd {
				for _, train := range []arrow.Record{nil, wardRows(3, 0), wardRows(3, 30), blank(usual, true)} {
					t.Run(k.Name+"/"+realName+"/"+synthName, func(t *testing.T) {
						list := judged(t, k.New(), tablesOf(real, synth, train))
						if len(list) == 0 {
							t.Error("no metrics at all")
						}
						for key, m := range list {
							if math.IsInf(m.Value, 0) || math.IsNaN(m.Value) && m.Note == "" {
								t.Errorf("%s is %v with note %q", key, m.Value, m.Note)
							}
						}
					})
				}
			}
		}
	}
}

// huge is n rows of numbers near the end of float64, whose squares and sums are
// infinite.
func huge(n int) arrow.Record {
	columns := make([][]any, 6)
	for i := range n {
		for j, v := range []any{18 + i, []float64{math.MaxFloat64, -1e74, 1e60, 9e74}[i%4], -2e73 * float64(i), []string{"north", "west"}[i%2], []string{"no", "yes"}[i/2%2], "p"} {
			columns[j] = append(columns[j], v)
		}
	}
	return pipelinetest.Rows(ward(), columns...)
}

// Tables without a single batch give notes, as tables without rows do.
func TestNothingToJudgeIsNoError(t *testing.T) {
	in := pipeline.Tables{}
	for _, port := range []string{"real", "synthetic", "real_train"} {
		in[port] = pipeline.FromRecords(wardInput(wardRows(1, 0), pipeline.Private).Header)
	}
	predict := downstream("smoker", split(classifierNames)...)
	dims := dimensionKind().New().(*DimensionWisePrediction)
	fit := &RegressionDiscovery{Model: "logistic", Target: "smoker", Columns: []string{"age", "region"}, Scaling: "raw", Level: 0.95}
	stages := []pipeline.Stage{predict, dims, fit, &Report{Target: "smoker", Plots: 2, Rows: 20}}
	for _, k := range comparisons() {
		stages = append(stages, k.New())
	}
	for _, s := range stages {
		if _, ok := s.(*RegressionDiscovery); ok {
			delete(in, "real_train")
		}
		if _, err := pipelinetest.Run(t, s, pipelinetest.Env(2), in); err != nil {
			t.Errorf("%T: %v", s, err)
		}
	}
}
