package pipelinetest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
)

// WardDomain returns the columns of the compared tables; patient is text, which no figure uses.
func WardDomain() *domain.Domain {
	return &domain.Domain{Columns: []domain.Column{
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{18, 90}, Nullable: true},
		{Name: "pressure", Type: domain.Numeric, Bounds: &[2]float64{60, 240}, Nullable: true},
		{Name: "weight", Type: domain.Numeric, Nullable: true},
		{Name: "region", Type: domain.Categorical, Categories: []string{"north", "south", "west"}, Nullable: true},
		{Name: "smoker", Type: domain.Boolean, Categories: []string{"no", "yes"}, Nullable: true},
		{Name: "patient", Type: domain.Text, Nullable: true},
	}}
}

// WardRows draws n rows: pressure grows with age, smokers are rarer in the north.
func WardRows(seed uint64, n int) arrow.Record {
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
	return Rows(WardDomain(), columns...)
}

// WardInput returns rows of the domain with a header of a class; one unit of private rows has one.
func WardInput(rows arrow.Record, class pipeline.Class) Input {
	h := pipeline.Header{Class: class}
	if class == pipeline.Private {
		h.Stability = pipeline.Rows(1)
	}
	return Input{Header: pipeline.TableHeader(WardDomain(), h), Rows: rows}
}

// WardPorts returns the inputs of a comparison of whole tables, real_train among them where train is not nil.
func WardPorts(real, synthetic, train arrow.Record) map[string]Input {
	in := map[string]Input{"real": WardInput(real, pipeline.Private), "synthetic": WardInput(synthetic, pipeline.Released)}
	if train != nil {
		in["real_train"] = WardInput(train, pipeline.Private)
	}
	return in
}

// BlankWards returns as many rows with every cell missing, or with one value a column.
func BlankWards(rows arrow.Record, missing bool) arrow.Record {
	d := WardDomain()
	columns := make([][]any, len(d.Columns))
	for i, c := range d.Columns {
		value := map[domain.ColumnType]any{domain.Integer: 40, domain.Numeric: 80.5, domain.Categorical: "west",
			domain.Boolean: "yes", domain.Text: "p"}[c.Type]
		if missing {
			value = nil
		}
		for range rows.NumRows() {
			columns[i] = append(columns[i], value)
		}
	}
	return Rows(d, columns...)
}

// HugeWards returns n rows of numbers near the end of float64, whose squares and sums are infinite.
func HugeWards(n int) arrow.Record {
	columns := make([][]any, 6)
	for i := range n {
		for j, v := range []any{18 + i, []float64{math.MaxFloat64, -1e74, 1e60, 9e74}[i%4], -2e73 * float64(i),
			[]string{"north", "west"}[i%2], []string{"no", "yes"}[i/2%2], "p"} {
			columns[j] = append(columns[j], v)
		}
	}
	return Rows(WardDomain(), columns...)
}

// People returns n private rows of age, weight, region and smoker, of which habits tells the codes of the last two;
// 1717 would be outside the bounds of weight. Their number is public, and one unit has one row.
func People(n int, claims pipeline.Claims, habits func(i int) (region, smokes int)) Input {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{18, 90}},
		{Name: "weight", Type: domain.Numeric, Bounds: &[2]float64{30, 200}, Step: 0.5},
		{Name: "region", Type: domain.Categorical, Categories: []string{"north", "south", "west"}},
		{Name: "smoker", Type: domain.Boolean, Categories: []string{"no", "yes"}},
	}}
	columns := make([][]any, len(d.Columns))
	for i := range n {
		region, smokes := habits(i)
		row := []any{20 + i%70, 60.5 + float64(i%7), []string{"north", "south", "west"}[region],
			[]string{"no", "yes"}[smokes]}
		for j, v := range row {
			columns[j] = append(columns[j], v)
		}
	}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1), Rows: int64(n),
		OwnRows: true,
		Terms:   pipeline.Terms{Adjacency: privacy.ReplaceOne, Claims: claims, Delta: 1e-5}})
	return Input{Header: h, Rows: Rows(d, columns...)}
}

// Rows builds the record of domain d from columns of Go values: float64, int,
// string (a category of a coded column, or text) and nil for missing. A value
// that does not fit is a mistake of the test and panics.
func Rows(d *domain.Domain, columns ...[]any) arrow.Record {
	arrays := make([]arrow.Array, len(d.Columns))
	for i, c := range d.Columns {
		b := array.NewBuilder(memory.DefaultAllocator, c.ArrowType())
		for _, v := range columns[i] {
			put(b, c, v)
		}
		arrays[i] = b.NewArray()
	}
	return array.NewRecord(d.ArrowSchema(), arrays, int64(len(columns[0])))
}

func put(b array.Builder, c domain.Column, v any) {
	switch b := b.(type) {
	case *array.Float64Builder:
		if x, ok := v.(int); ok {
			v = float64(x)
		}
		if x, ok := v.(float64); ok {
			b.Append(x)
			return
		}
	case *array.Int64Builder:
		if x, ok := v.(int); ok {
			b.Append(int64(x))
			return
		}
	case *array.Int32Builder:
		for code, name := range c.Categories {
			if name == v {
				b.Append(int32(code))
				return
			}
		}
	case *array.StringBuilder:
		if x, ok := v.(string); ok {
			b.Append(x)
			return
		}
	}
	if v != nil {
		panic(fmt.Sprintf("column %s: %v is not a value of a column that is %s", c.Name, v, c.Type))
	}
	b.AppendNull()
}
