package graphical

import (
	"fmt"
	"testing"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/privacy/noise"
	"weir/stages/model/artifact"
)

// ward is a table of n made-up rows with a column of each form: few points, a step, a
// tree of many cells with missing values, a line without step, categories with and
// without missing ones, a date.
func ward(n int) pipelinetest.Input {
	d := &pipeline.Domain{Columns: []pipeline.Column{
		{Name: "age", Type: pipeline.Integer, Bounds: &[2]float64{18, 90}},
		{Name: "income", Type: pipeline.Integer, Bounds: &[2]float64{0, 99999}, Nullable: true},
		{Name: "weight", Type: pipeline.Numeric, Bounds: &[2]float64{30, 200}, Step: 0.5},
		{Name: "dose", Type: pipeline.Numeric, Bounds: &[2]float64{0, 1}},
		{Name: "region", Type: pipeline.Categorical, Categories: []string{"north", "south", "west"}, Nullable: true},
		{Name: "smoker", Type: pipeline.Boolean, Categories: []string{"no", "yes"}},
		{Name: "seen", Type: pipeline.Date, Bounds: &[2]float64{18000, 18400}},
	}}
	columns := make([][]any, len(d.Columns))
	for i := range n {
		row := []any{20 + i*7%70, i * 1717 % 99999, 60.5 + float64(i%7), float64(i%13) / 13, []string{"north", "south", "west"}[i*i%3], []string{"no", "yes"}[i/20%2], 18000 + i*11%400}
		if i%9 == 4 {
			row[1] = nil
		}
		if i%11 == 3 {
			row[4] = nil
		}
		for j, v := range row {
			columns[j] = append(columns[j], v)
		}
	}
	return pipelinetest.Input{Header: header(d, n), Rows: pipelinetest.Rows(d, columns...)}
}

func header(d *pipeline.Domain, n int) pipeline.Header {
	return pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1), Rows: int64(n), OwnRows: true,
		Terms: pipeline.Terms{Adjacency: privacy.ReplaceOne, Claims: pipeline.ClaimsProven}})
}

// private is the table with a private number of rows, under add_remove.
func private(in pipelinetest.Input) pipelinetest.Input {
	in.Header.Rows, in.Header.Terms.Adjacency = 0, privacy.AddRemove
	return in
}

func kindNamed(t testing.TB, name string) pipeline.Kind {
	t.Helper()
	for _, k := range Kinds() {
		if k.Name == name {
			return k
		}
	}
	t.Fatalf("no kind %s", name)
	return pipeline.Kind{}
}

// run carries a stage out at a noise multiplier, and closes its ledger.
func run(t testing.TB, name string, s pipeline.Stage, in pipelinetest.Input, multiplier float64, key byte, probe privacy.Probe) pipeline.Table {
	t.Helper()
	kind, h := kindNamed(t, name), pipeline.Headers{"in": in.Header}
	w, err := s.Plan(h)
	must(t, err)
	plan, err := compile.Price(&kind, h, w, multiplier, in.Header.Terms.Adjacency)
	must(t, err)
	ledger := &pipelinetest.Ledger{Key: noise.Key{4, 5, key}, Plan: plan, Probe: probe}
	env := pipelinetest.Env(2)
	env.Privacy = ledger
	out, err := w.Run(t.Context(), env, pipeline.Tables{"in": pipeline.FromRecords(in.Header, in.Rows)})
	must(t, err)
	must(t, ledger.Close())
	return out["model"]
}

// read is the model of a table that a stage released.
func read(t testing.TB, table pipeline.Table) *released {
	t.Helper()
	m, err := artifact.Read(t.Context(), table, Decoders())
	must(t, err)
	return m.(*released)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sum is a fingerprint of a released table.
func sum(t testing.TB, table pipeline.Table) string {
	t.Helper()
	files, err := pipeline.ReadFiles(t.Context(), table)
	must(t, err)
	return fmt.Sprint(files)
}
