package wards

import (
	"math"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// Domain returns the columns of the compared tables; patient is text, which no figure uses.
func Domain() *domain.Domain {
	return &domain.Domain{Columns: []domain.Column{
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{18, 90}, Nullable: true},
		{Name: "pressure", Type: domain.Numeric, Bounds: &[2]float64{60, 240}, Nullable: true},
		{Name: "weight", Type: domain.Numeric, Nullable: true},
		{Name: "region", Type: domain.Categorical, Categories: []string{"north", "south", "west"}, Nullable: true},
		{Name: "smoker", Type: domain.Boolean, Categories: []string{"no", "yes"}, Nullable: true},
		{Name: "patient", Type: domain.Text, Nullable: true},
	}}
}

// Rows draws n rows: pressure grows with age, smokers are rarer in the north.
func Rows(seed uint64, n int) arrow.Record {
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
	return pipelinetest.Rows(Domain(), columns...)
}

// Input returns rows of the domain with a header of a class; one unit of private rows has one.
func Input(rows arrow.Record, class pipeline.Class) pipelinetest.Input {
	h := pipeline.Header{Class: class}
	if class == pipeline.Private {
		h.Stability = pipeline.Rows(1)
	}
	return pipelinetest.Input{Header: pipeline.TableHeader(Domain(), h), Rows: rows}
}

// Ports returns the inputs of a comparison of whole tables, real_train among them where train is not nil.
func Ports(real, synthetic, train arrow.Record) map[string]pipelinetest.Input {
	in := map[string]pipelinetest.Input{"real": Input(real, pipeline.Private), "synthetic": Input(synthetic, pipeline.Released)}
	if train != nil {
		in["real_train"] = Input(train, pipeline.Private)
	}
	return in
}

// Blank returns as many rows with every cell missing, or with one value a column.
func Blank(rows arrow.Record, missing bool) arrow.Record {
	d := Domain()
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

// Huge returns n rows of numbers near the end of float64, whose squares and sums are infinite.
func Huge(n int) arrow.Record {
	columns := make([][]any, 6)
	for i := range n {
		for j, v := range []any{18 + i, []float64{math.MaxFloat64, -1e74, 1e60, 9e74}[i%4], -2e73 * float64(i), []string{"north", "west"}[i%2], []string{"no", "yes"}[i/2%2], "p"} {
			columns[j] = append(columns[j], v)
		}
	}
	return pipelinetest.Rows(Domain(), columns...)
}
