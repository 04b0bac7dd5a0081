package metric

import (
	"testing"

	"weir/internal/stattest"
	"weir/stages/internal/columns"
)

type kWayParams struct {
	Bins             int
	Outside, Edges   string
	Columns, Queries [][]string
	Tables           []string
}

// tables returns real and synth unless the case names others.
func (p kWayParams) tables(t *testing.T) (real, synth *columns.Frame) {
	if p.Tables == nil {
		p.Tables = []string{"real", "synth"}
	}
	return goldenTable(t, p.Tables[0]), goldenTable(t, p.Tables[1])
}

// compared counts the queries of a case on both golden tables.
func compared(t *testing.T, p kWayParams, queries [][]string) []MarginalComparison {
	b := Binning{Bins: p.Bins, Declared: p.Edges == "declared bounds", OwnBins: p.Outside == "outside"}
	real, synth := p.tables(t)
	table := b.CodeAll(real, synth, 2)
	offsets := make([][]int, len(queries))
	for i, q := range queries {
		offsets[i] = places(t, real.Names(), q)
	}
	list, err := table.Compare(t.Context(), offsets, 2, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func outsideCounts(t *testing.T, c goldenCase) map[string]any {
	var p kWayParams
	if c.Params != nil {
		p = decode[kWayParams](t, c.Params)
	}
	real, synth := p.tables(t)
	table := Binning{Bins: 100}.CodeAll(real, synth, 1)
	got := map[string]any{}
	for _, col := range table.Columns {
		got[col.Name] = col.Outside
	}
	return got
}

func kWay(t *testing.T, c goldenCase) map[string]any {
	p := decode[kWayParams](t, c.Params)
	list := compared(t, p, p.Columns)
	var l1, tvd []float64
	var occupied []int
	for _, m := range list {
		l1, tvd, occupied = append(l1, m.L1), append(tvd, m.TotalVariation), append(occupied, m.Occupied)
	}
	s := SummariseWorkload(list)
	return map[string]any{"l1": l1, "tvd": tvd, "occupied_cells": occupied, "mean_l1": s.MeanL1, "max_l1": s.MaxL1,
		"mean_tvd": s.MeanL1 / 2, "score": s.Score(), "score_challenge_scale": s.Score() * 1e6}
}

func workload(t *testing.T, c goldenCase) map[string]any {
	p := decode[kWayParams](t, c.Params)
	list := compared(t, p, p.Queries)
	var l1, cells, worst []float64
	for _, m := range list {
		l1, cells, worst = append(l1, m.L1), append(cells, m.Cells), append(worst, m.MaxCell)
	}
	s := SummariseWorkload(list)
	return map[string]any{"l1": l1, "average_l1": s.MeanL1, "average_tvd": s.MeanL1 / 2, "max_l1": s.MaxL1,
		"domain_cells":             cells,
		"mean_absolute_cell_error": s.MeanCellError, "max_cell_error": worst, "max_cell_error_overall": s.MaxCell}
}

func binIndex(t *testing.T, c goldenCase) map[string]any {
	p := decode[struct {
		Bins         int
		Lower, Upper float64
	}](t, c.Params)
	var index []int
	for _, x := range decode[struct{ X []float64 }](t, c.Input).X {
		index = append(index, BinOf(x, p.Lower, p.Upper, p.Bins))
	}
	return map[string]any{"index": index}
}

// TestGoldenProbability takes from dimensionwise.json what is no prediction.
func TestGoldenProbability(t *testing.T) {
	var set struct{ Cases []goldenCase }
	stattest.LoadGolden(t, "dimensionwise.json", &set)
	var cases []goldenCase
	for _, c := range set.Cases {
		if c.Kind == "dimensionwise_probability" {
			cases = append(cases, c)
		}
	}
	checkCases(t, cases, map[string]handler{"dimensionwise_probability": probability})
}

func probability(t *testing.T, c goldenCase) map[string]any {
	p := decode[struct{ Columns, Tables []string }](t, c.Params)
	a, b := goldenTable(t, p.Tables[0]).Select(p.Columns), goldenTable(t, p.Tables[1]).Select(p.Columns)
	var names []string
	var real, synth []float64
	for _, col := range (Binning{}).CodeAll(a, b, 1).Columns {
		n, m := col.Counts()
		x, y := shares(n), shares(m)
		for k := FirstIndicator(col.Cells); k < col.Cells; k++ {
			names, real, synth = append(names, col.Name+"="+col.Labels[k]), append(real, x[k]), append(synth, y[k])
		}
	}
	d := CompareProbabilities(real, synth)
	return map[string]any{"names": names, "real": real, "synth": synth, "mean_absolute_error": d.MeanAbsolute,
		"rmse":           d.RMSE,
		"sum_of_squares": d.SumOfSquares, "max_absolute_error": d.MaxAbsolute, "pearson": d.Pearson,
		"mean_distance_from_diagonal": d.FromDiagonal}
}
