package graphical

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/pipeline/bill"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/privacy/noise"
	"weir/stages/model/artifact"
	"weir/train/marginal"
)

// countedWhole counts marginals of a whole table.
func countedWhole(columns [][]uint16, sizes []int, sets [][]int, workers int) ([][]int64, error) {
	tally, err := marginal.NewTally(sizes, sets)
	if err != nil {
		return nil, err
	}
	tally.Add(columns, workers)
	return tally.Counts(), nil
}

// ward returns a table of n made-up rows with a column of each form: few points, a step, a
// tree of many cells with missing values, a line without step, categories with and
// without missing ones, a date.
func ward(n int) pipelinetest.Input {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{18, 90}},
		{Name: "income", Type: domain.Integer, Bounds: &[2]float64{0, 99999}, Nullable: true},
		{Name: "weight", Type: domain.Numeric, Bounds: &[2]float64{30, 200}, Step: 0.5},
		{Name: "dose", Type: domain.Numeric, Bounds: &[2]float64{0, 1}},
		{Name: "region", Type: domain.Categorical, Categories: []string{"north", "south", "west"}, Nullable: true},
		{Name: "smoker", Type: domain.Boolean, Categories: []string{"no", "yes"}},
		{Name: "seen", Type: domain.Date, Bounds: &[2]float64{18000, 18400}},
	}}
	columns := make([][]any, len(d.Columns))
	for i := range n {
		row := []any{20 + i*7%70, i * 1717 % 99999, 60.5 + float64(i%7), float64(i%13) / 13, []string{"north", "south",
			"west"}[i*i%3], []string{"no", "yes"}[i/20%2], 18000 + i*11%400}
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

func header(d *domain.Domain, n int) pipeline.Header {
	return pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1), Rows: int64(n),
		OwnRows: true,
		Terms:   pipeline.Terms{Adjacency: privacy.ReplaceOne, Claims: pipeline.ClaimsProven}})
}

// private returns the table with a private number of rows, under add_remove.
func private(in pipelinetest.Input) pipelinetest.Input {
	in.Header.Rows, in.Header.Terms.Adjacency = 0, privacy.AddRemove
	return in
}

// attempt is a stage, a table, and how it is paid for.
type attempt struct {
	stage      pipeline.Stage
	in         pipelinetest.Input
	multiplier float64
	key        byte
	keys       uint32 // more of the key, where there are many
	workers    int
	counting   pipeline.Counting
	stays      bool // the rows stay in a database
	probe      privacy.Probe
}

// run carries a stage out and closes its ledger. left is the part of the total that it
// did not spend.
func (a attempt) run(t testing.TB) (model pipeline.Table, left float64) {
	t.Helper()
	kind, h := pipeline.Kind{In: tableIn()}, pipeline.Headers{"in": a.in.Header}
	w, err := a.stage.Plan(h)
	must(t, err)
	plan, err := bill.Price(&kind, h, w, a.multiplier, a.in.Header.Terms.Adjacency)
	must(t, err)
	ledger := &pipelinetest.Ledger{Key: noise.Key{4, 5, a.key, byte(a.keys), byte(a.keys >> 8), byte(a.keys >> 16)},
		Plan: plan, Probe: a.probe}
	env := pipelinetest.Env(max(1, a.workers))
	env.Privacy, env.Counting = ledger, a.counting
	table := pipeline.FromRecords(a.in.Header, a.in.Rows)
	if a.stays {
		table = pipelinetest.Stays(table)
	}
	out, err := w.Run(t.Context(), env, pipeline.Tables{"in": table})
	must(t, err)
	must(t, ledger.Close())
	return out["model"], ledger.Left(spendName) / plan[0].Value.(privacy.Filter).Total()
}

// model returns what an attempt releases, read back.
func (a attempt) model(t testing.TB) *released {
	t.Helper()
	table, _ := a.run(t)
	return read(t, table)
}

// read returns the model of a table that a stage released.
func read(t testing.TB, table pipeline.Table) *released {
	t.Helper()
	m, err := artifact.Read[artifact.Model](t.Context(), table, pipeline.ReadersOf(Kinds()))
	must(t, err)
	return m.(*released)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fingerprint returns all that a released table holds.
func fingerprint(t testing.TB, table pipeline.Table) string {
	t.Helper()
	files, err := pipeline.ReadFiles(t.Context(), table)
	must(t, err)
	return fmt.Sprint(files)
}

// drawRows returns n rows of a model.
func drawRows(t testing.TB, m *released, n int) arrow.Record {
	t.Helper()
	rows, err := m.Draw(artifact.Drawing{Rows: int64(n), Random: func(purpose string) *rand.Rand {
		return rand.New(rand.NewPCG(7, uint64(len(purpose))))
	}})
	must(t, err)
	rec, err := rows(n)
	must(t, err)
	return rec
}

// table makes a table of codes: column j has sizes[j] categories, c0 and so on.
func table(sizes []int, columns ...[]int) pipelinetest.Input {
	d, values := &domain.Domain{}, make([][]any, len(sizes))
	for j, n := range sizes {
		c := domain.Column{Name: fmt.Sprint("x", j), Type: domain.Categorical}
		for k := range n {
			c.Categories = append(c.Categories, fmt.Sprint("c", k))
		}
		d.Columns = append(d.Columns, c)
		for _, code := range columns[j] {
			values[j] = append(values[j], c.Categories[code])
		}
	}
	return pipelinetest.Input{Header: header(d, len(columns[0])), Rows: pipelinetest.Rows(d, values...)}
}

// every returns a stage of each kind that learns as it is by default.
func every() []pipeline.Stage {
	var list []pipeline.Stage
	for _, k := range append(learning(), autoKind()) {
		list = append(list, slim(k)())
	}
	return append(list, ranked())
}

// ranked returns aim with the variant of its choices.
func ranked() pipeline.Stage {
	s := slim(aimKind())().(*AIM)
	s.Selection = "gaussian"
	return s
}

// slim makes stages of a kind whose models have at most a megabyte. What tests hold of
// them is so of any size; the time of a fit is the time of the model's cells.
func slim(k pipeline.Kind) func() pipeline.Stage {
	return func() pipeline.Stage {
		s := k.New()
		if size := reflect.ValueOf(s).Elem().FieldByName("MaxModelSize"); size.IsValid() { // independent has none
			size.SetFloat(1)
		}
		return s
	}
}

func headers(in pipelinetest.Input) pipeline.Headers { return pipeline.Headers{"in": in.Header} }

// thirteen returns the header of a table of 13 columns.
func thirteen(a privacy.Adjacency) pipeline.Headers {
	var sizes []int
	columns := make([][]int, 13)
	for j := range columns {
		sizes, columns[j] = append(sizes, 3), []int{0}
	}
	in := table(sizes, columns...)
	in.Header.Terms.Adjacency = a
	return headers(in)
}

// interval returns the interval of one cell, as the listing has it.
func (x measured) interval(k int) (low, high float64) {
	h := x.half()
	return x.Y[k] - h, x.Y[k] + h
}

func TestMain(m *testing.M) { stattest.Sparing(m, 800) }
