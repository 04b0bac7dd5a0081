package report

import (
	"math"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// ward is a made-up domain; patient is text, which no figure uses.
func ward() *domain.Domain {
	return &domain.Domain{Columns: []domain.Column{
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{18, 90}, Nullable: true},
		{Name: "pressure", Type: domain.Numeric, Bounds: &[2]float64{60, 240}, Nullable: true},
		{Name: "weight", Type: domain.Numeric, Nullable: true},
		{Name: "region", Type: domain.Categorical, Categories: []string{"north", "south", "west"}, Nullable: true},
		{Name: "smoker", Type: domain.Boolean, Categories: []string{"no", "yes"}, Nullable: true},
		{Name: "patient", Type: domain.Text, Nullable: true},
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

// blank is rows with the named columns changed: missing throughout, or all equal
// to the value of the first row that has one.
func blank(rows arrow.Record, missing bool) arrow.Record {
	d := ward()
	columns := make([][]any, len(d.Columns))
	for i, c := range d.Columns {
		value := map[domain.ColumnType]any{domain.Integer: 40, domain.Numeric: 80.5, domain.Categorical: "west", domain.Boolean: "yes", domain.Text: "p"}[c.Type]
		if missing {
			value = nil
		}
		for range rows.NumRows() {
			columns[i] = append(columns[i], value)
		}
	}
	return pipelinetest.Rows(d, columns...)
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

// tables are the rows of inputs.
func tables(in map[string]pipelinetest.Input) pipeline.Tables {
	t := pipeline.Tables{}
	for port, i := range in {
		t[port] = pipeline.FromRecords(i.Header, i.Rows)
	}
	return t
}
