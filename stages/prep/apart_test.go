package prep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// extreme are values that arithmetic is not exact on, or has no place for, by column.
var extreme = map[domain.ColumnType][]any{
	domain.Integer: {nil, 0, 7, 99, -5, 1<<53 + 1, -(1<<53 + 3), 1<<60 + 1,
		math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1},
	domain.Numeric: {nil, 0.0, math.Copysign(0, -1), 0.1, 99.0, -1e308, 1e308, 5e-324,
		1<<53 + 2.0, 1e16, -0.1, 3.0000000000000004},
	domain.Date:    {nil, 0, 18000, -719528, 2932896},
	domain.Ordinal: {nil, "low", "mid", "high"},
	domain.Boolean: {nil, "n", "y"},
	domain.Text:    {nil, "", "a", "é", "9007199254740993"},
}

// TestRowsStandApart: what a stage that works row by row makes of a row follows from that row alone, to the bit,
// whatever row stands in the same batch. Values are extreme ones; the column row tells rows apart.
func TestRowsStandApart(t *testing.T) {
	columns := []domain.Column{{Name: "row", Type: domain.Integer},
		{Name: "i", Type: domain.Integer, Nullable: true}, {Name: "f", Type: domain.Numeric, Nullable: true},
		{Name: "d", Type: domain.Date, Nullable: true},
		{Name: "o", Type: domain.Ordinal, Categories: []string{"low", "mid", "high"}, Nullable: true},
		{Name: "b", Type: domain.Boolean, Categories: []string{"n", "y"}, Nullable: true},
		{Name: "t", Type: domain.Text, Nullable: true}}
	stored := []string{"i", "f", "d"}
	limits := map[string]Limits{"i": {pointer(-9e15), pointer(9.1e18)}, "f": {pointer(-1e17), pointer(1e17)},
		"d": {pointer(0), pointer(20000)}}
	stages := map[string]func() pipeline.Stage{
		"clip": func() pipeline.Stage {
			return &Bounds{Outside: "clip", Columns: stored, Bounds: limits}
		},
		"missing": func() pipeline.Stage {
			return &Bounds{Outside: "missing", Columns: stored, Bounds: limits}
		},
		"sentinel": func() pipeline.Stage {
			return &NotAvailable{Columns: map[string]float64{"i": 99, "f": 99}, Suffix: "_na"}
		},
		"indicator": func() pipeline.Stage { return &MissingIndicator{Suffix: "_missing"} },
		"constant": func() pipeline.Stage {
			return &ImputeConstant{Numbers: map[string]float64{"i": 3, "f": 0.5, "d": 1},
				Categories: map[string]string{"o": "mid", "b": "y"}}
		},
		"bins": func() pipeline.Stage {
			return &Discretize{Columns: []string{"i", "f"}, Strategy: "uniform", Bins: 3, Inverse: "midpoint",
				Edges: map[string][]float64{"i": {-1e16, 0, 1e16}, "f": {-1, 0, 1}}}
		},
		"filter": func() pipeline.Stage { return &Filter{Keep: "i > 7 or missing(f)", Missing: "drop"} },
		"derive": func() pipeline.Stage {
			return &Derive{Columns: []Derived{{Name: "x", Formula: "f ** 0.3", Type: domain.Numeric},
				{Name: "y", Formula: "i * 3 + int(f)", Type: domain.Integer},
				{Name: "w", Formula: "t", Type: domain.Text},
				{Name: "z", Formula: "i", Type: domain.Integer, Bounds: &[2]float64{-1e10, 1e18}}}}
		},
	}
	r := rand.New(rand.NewPCG(1, 7))
	for name, stage := range stages {
		for range 200 {
			rows := extremes(columns, r, 5)
			pos := r.IntN(6)
			reduced := shown(pipelinetest.After(t, table(columns, rows...), stage()))
			for c := range rows {
				more := extreme[columns[c].Type]
				value := more[r.IntN(len(more))]
				if c == 0 {
					value = 5
				}
				rows[c] = slices.Insert(slices.Clone(rows[c]), pos, value)
			}
			extended := shown(pipelinetest.After(t, table(columns, rows...), stage()))
			delete(extended, "5")
			if fmt.Sprint(extended) != fmt.Sprint(reduced) {
				t.Fatalf("%s: beside\n%v rows are\n%v and without\n%v", name, rows, extended, reduced)
			}
		}
	}
}

// extremes returns n rows, by column.
func extremes(columns []domain.Column, r *rand.Rand, n int) [][]any {
	rows := make([][]any, len(columns))
	for c, column := range columns {
		for i := range n {
			list := extreme[column.Type]
			if rows[c] = append(rows[c], list[r.IntN(len(list))]); c == 0 {
				rows[c][i] = i
			}
		}
	}
	return rows
}

// shown spells each row of a table, by its first cell.
func shown(in pipelinetest.Input) map[string]string {
	rows := map[string]string{}
	for i := range int(in.Rows.NumRows()) {
		text := ""
		for _, c := range in.Rows.Columns() {
			text += fmt.Sprintf("%t %s|", c.IsNull(i), c.ValueStr(i))
		}
		rows[in.Rows.Column(0).ValueStr(i)] = text
	}
	return rows
}
