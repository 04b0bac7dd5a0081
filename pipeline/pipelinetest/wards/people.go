// Package wards makes up the tables that tests of several families of kinds work on: People for learners,
// Rows and Ports for comparisons.
package wards

import (
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
)

// People returns n private rows of age, weight, region and smoker, of which habits tells the codes of the last two;
// 1717 would be outside the bounds of weight. Their number is public, and one unit has one row.
func People(n int, claims pipeline.Claims, habits func(i int) (region, smokes int)) pipelinetest.Input {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{18, 90}},
		{Name: "weight", Type: domain.Numeric, Bounds: &[2]float64{30, 200}, Step: 0.5},
		{Name: "region", Type: domain.Categorical, Categories: []string{"north", "south", "west"}},
		{Name: "smoker", Type: domain.Boolean, Categories: []string{"no", "yes"}},
	}}
	columns := make([][]any, len(d.Columns))
	for i := range n {
		region, smokes := habits(i)
		row := []any{20 + i%70, 60.5 + float64(i%7), []string{"north", "south", "west"}[region], []string{"no", "yes"}[smokes]}
		for j, v := range row {
			columns[j] = append(columns[j], v)
		}
	}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1), Rows: int64(n), OwnRows: true,
		Terms: pipeline.Terms{Adjacency: privacy.ReplaceOne, Claims: claims, Delta: 1e-5}})
	return pipelinetest.Input{Header: h, Rows: pipelinetest.Rows(d, columns...)}
}
