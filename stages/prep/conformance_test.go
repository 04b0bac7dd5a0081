package prep

import (
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
)

// clinic returns a made-up domain with a column of every type.
func clinic() *domain.Domain {
	return &domain.Domain{Columns: []domain.Column{
		{Name: "patient_id", Type: domain.Text, Nullable: true},
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{18, 90}, Nullable: true},
		{Name: "pressure", Type: domain.Numeric, Bounds: &[2]float64{60, 240}, Step: 0.5, Nullable: true},
		{Name: "visits", Type: domain.Integer, Bounds: &[2]float64{0, 30}},
		{Name: "region", Type: domain.Categorical, Categories: []string{"north", "south", "west"}, Nullable: true},
		{Name: "grade", Type: domain.Ordinal, Categories: []string{"low", "middle", "high"}},
		{Name: "smoker", Type: domain.Boolean, Categories: []string{"no", "yes"}},
		{Name: "admission", Type: domain.Date, Bounds: &[2]float64{10957, 20088}},
	}}
}

// clinicColumns returns 12 made-up rows; 1717, 4242.5 and 99999 are far outside the
// bounds, so that an error that quotes a value shows.
func clinicColumns() [][]any {
	return [][]any{
		{"person-a", "person-a", "person-b", "person-c", "person-d", "person-e", "person-e", "person-f", nil, "person-h",
			"person-i", "person-j"},
		{34, 57, nil, 1717, 90, 18, 41, nil, 66, 29, 73, 50},
		{121.5, nil, 180.0, 95.0, 4242.5, 60.0, 240.0, 133.5, nil, 110.0, 128.0, 99.5},
		{1, 0, 99999, 3, 2, 5, 99999, 8, 1, 0, 2, 4},
		{"north", "south", nil, "west", "west", "north", nil, "south", "south", "north", "west", "north"},
		{"low", "high", "middle", "middle", "low", "high", "low", "middle", "high", "low", "low", "middle"},
		{"no", "yes", "yes", "no", "no", "yes", "no", "no", "yes", "no", "yes", "no"},
		{11000, 12000, 13000, 14000, 15000, 16000, 17000, 18000, 19000, 20000, 20088, 10957},
	}
}

// clinicTable returns the private table of the conformance cases: rows(1) under
// replace_one, with a public row count.
func clinicTable() pipelinetest.Input {
	d := clinic()
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1), OwnRows: true,
		Rows:  12,
		Terms: pipeline.Terms{Adjacency: privacy.ReplaceOne, Claims: pipeline.ClaimsProven}})
	return pipelinetest.Input{Header: h, Rows: pipelinetest.Rows(d, clinicColumns()...)}
}

func one(name string, in pipelinetest.Input, stage func() pipeline.Stage) pipelinetest.Case {
	return pipelinetest.Case{Name: name, Stage: stage, In: map[string]pipelinetest.Input{"in": in}}
}

func pointer(x float64) *float64 { return &x }

// cleaned holds the clinic table to its bounds, without the identifier.
func cleaned(t *testing.T) pipelinetest.Input {
	return pipelinetest.After(t, clinicTable(), &Drop{Columns: []string{"patient_id"}},
		&NotAvailable{Columns: map[string]float64{"visits": 99999}, Suffix: "_na"}, &Bounds{Outside: "missing"})
}

// complete returns the cleaned table with nothing missing in any number.
func complete(t *testing.T) pipelinetest.Input {
	return pipelinetest.After(t, cleaned(t), &MissingIndicator{Columns: []string{"age"}, Suffix: "_missing"},
		&ImputeConstant{Numbers: map[string]float64{"age": 50, "pressure": 120, "visits": 0, "admission": 15000}})
}

func sharded(t *testing.T, in pipelinetest.Input) pipelinetest.Input {
	return pipelinetest.After(t, in, &Shard{Shards: 3, By: "random"})
}

func unitTable() pipelinetest.Input {
	in := clinicTable()
	in.Header.Terms.Unit = pipeline.Unit{Column: "patient_id", MaxRows: 2}
	in.Header.Terms.Adjacency = privacy.AddRemove
	in.Header.Stability, in.Header.Rows = pipeline.Rows(2), 0
	in.Header.Domain.Columns[0].OfUnit = true
	return in
}

// undeclared returns a table whose numbers have no bounds.
func undeclared(in pipelinetest.Input) pipelinetest.Input {
	d := in.Header.Domain.Clone()
	for i := range d.Columns {
		d.Columns[i].Bounds = nil
	}
	in.Header = pipeline.TableHeader(d, in.Header)
	return in
}

// texts returns a table whose region is text.
func texts(in pipelinetest.Input) pipelinetest.Input {
	d, columns := in.Header.Domain.Clone(), clinicColumns()
	at := d.Index("region")
	d.Columns[at].Type, d.Columns[at].Categories = domain.Text, nil
	in.Header, in.Rows = pipeline.TableHeader(d, in.Header), pipelinetest.Rows(d, columns...)
	return in
}

func public(in pipelinetest.Input) pipelinetest.Input {
	in.Header.Class, in.Header.Stability = pipeline.Public, pipeline.Stability{}
	return in
}

// conformance lists the cases of every kind.
func conformance(t *testing.T) map[string][]pipelinetest.Case {
	raw, tidy, full := clinicTable(), cleaned(t), complete(t)
	addRemove := clinicTable()
	addRemove.Header.Terms.Adjacency, addRemove.Header.Rows = privacy.AddRemove, 0
	encode := func() pipeline.Stage {
		return &Encode{MinMax: [2]float64{-1, 1}, Missing: "category", OneHot: []string{"grade"},
			Standard: map[string]Moments{"admission": {Mean: 15000, SD: 3000}}}
	}
	encodedTable := pipelinetest.After(t, full, encode())
	binned := pipelinetest.After(t, full, &Discretize{Strategy: "uniform", Bins: 4, Inverse: "uniform"})
	withReference := func(stage func() pipeline.Stage) pipelinetest.Case {
		c := one("reference", tidy, stage)
		c.In["reference"] = public(tidy)
		return c
	}
	whole := func(c pipelinetest.Case) pipelinetest.Case { c.Whole = true; return c }
	fails := func(c pipelinetest.Case) pipelinetest.Case { c.Fails = true; return c }
	return map[string][]pipelinetest.Case{
		"select": {one("two", raw, func() pipeline.Stage { return &Select{Columns: []string{"region", "age"}} })},
		"drop":   {one("one", raw, func() pipeline.Stage { return &Drop{Columns: []string{"patient_id"}} })},
		"bounds": {
			one("missing", raw, func() pipeline.Stage { return &Bounds{Outside: "missing"} }),
			one("clip", raw, func() pipeline.Stage { return &Bounds{Outside: "clip"} }),
			fails(one("error", public(raw), func() pipeline.Stage { return &Bounds{Outside: "error"} })),
			one("own", raw, func() pipeline.Stage {
				return &Bounds{Outside: "missing", Columns: []string{"pressure"},
					Bounds: map[string]Limits{"visits": {Upper: pointer(9)}}}
			}),
		},
		"not_available": {one("nullable", raw, func() pipeline.Stage {
			return &NotAvailable{Columns: map[string]float64{"pressure": 99999, "age": 1}, Value: pointer(70), Suffix: "_na"}
		}), one("sentinel", raw, func() pipeline.Stage {
			return &NotAvailable{Columns: map[string]float64{"visits": 99999}, Suffix: "_na"}
		})},
		"missing_indicator": {one("all", raw, func() pipeline.Stage { return &MissingIndicator{Suffix: "_missing"} })},
		"impute_constant": {one("both", tidy, func() pipeline.Stage {
			return &ImputeConstant{Numbers: map[string]float64{"age": 50}, Categories: map[string]string{"region": "west"}}
		})},
		"impute_knn": {
			one("table", tidy, func() pipeline.Stage {
				return &ImputeKNN{Neighbors: 3, Weights: "uniform", Scope: "table", Scale: "bounds"}
			}),
			one("shard", sharded(t, tidy), func() pipeline.Stage {
				return &ImputeKNN{Neighbors: 2, Weights: "distance", Scope: "shard", Scale: "none"}
			}),
			withReference(func() pipeline.Stage {
				return &ImputeKNN{Neighbors: 3, Weights: "uniform", Scope: "reference", Scale: "none", Columns: []string{"age"}}
			}),
		},
		"discretize": {
			one("uniform", full, func() pipeline.Stage {
				return &Discretize{Strategy: "uniform", Bins: 4,
					Inverse: "midpoint"}
			}),
			one("edges", tidy, func() pipeline.Stage {
				return &Discretize{Strategy: "uniform", Bins: 2, Inverse: "midpoint", Columns: []string{"age"},
					Edges: map[string][]float64{"age": {18, 40, 65, 90}}}
			}),
			one("quantile", tidy, func() pipeline.Stage {
				return &Discretize{Strategy: "quantile", Bins: 3, Inverse: "midpoint", Columns: []string{"pressure"}}
			}),
			withReference(func() pipeline.Stage {
				return &Discretize{Strategy: "quantile", Bins: 3, Inverse: "midpoint", Columns: []string{"pressure"}}
			}),
		},
		"encode": {one("all forms", full, encode), one("separate cells", full,
			func() pipeline.Stage { s := encode().(*Encode); s.Separate = true; return s })},
		"decode": {
			one("source", encodedTable, func() pipeline.Stage { return &Decode{To: "source"} }),
			one("encoded", encodedTable, func() pipeline.Stage { return &Decode{To: "encoded"} }),
			one("uniform draw", binned, func() pipeline.Stage { return &Decode{To: "source"} }),
		},
		"filter": {
			one("drop", raw, func() pipeline.Stage {
				return &Filter{Keep: `age >= 30 and region in ["north", "west"]`, Missing: "drop"}
			}),
			one("keep", raw, func() pipeline.Stage { return &Filter{Keep: `missing(age) or rank(grade) > 0`, Missing: "keep"} }),
			fails(one("error", public(raw), func() pipeline.Stage { return &Filter{Keep: `pressure > 100`, Missing: "error"} })),
		},
		"derive": {one("several", raw, func() pipeline.Stage {
			return &Derive{Columns: []Derived{
				{Name: "decade", Formula: "int(age / 10)", Type: domain.Integer, Bounds: &[2]float64{0, 20}},
				{Name: "old", Formula: "decade >= 6 and smoker", Type: domain.Boolean},
				{Name: "side", Formula: `region == "north" ? "up" : "down"`, Type: domain.Categorical, Categories: []string{"up",
					"down"}},
				{Name: "load", Formula: "pressure * (rank(grade) + 1)", Type: domain.Numeric},
				{Name: "name", Formula: `patient_id + "!"`, Type: domain.Text},
			}}
		}), one("numbers", raw, func() pipeline.Stage {
			return &Derive{Columns: []Derived{
				{Name: "decade", Formula: "int(age / 10)", Type: domain.Integer, Bounds: &[2]float64{0, 20}},
				{Name: "old", Formula: "decade >= 6 and not smoker or missing(region)", Type: domain.Boolean},
				{Name: "side", Formula: `region == "north" ? "up" : "down"`, Type: domain.Categorical, Categories: []string{"up",
					"down"}},
				{Name: "load", Formula: "pressure * (rank(grade) + 1) - 2.5", Type: domain.Numeric},
				{Name: "share", Formula: "pressure / visits + 0.1", Type: domain.Numeric},
				{Name: "steep", Formula: "pressure * pressure - pressure * pressure != 0", Type: domain.Boolean},
				{Name: "whole", Formula: "int(pressure * pressure * pressure)", Type: domain.Integer},
				{Name: "none", Formula: "int(pressure * pressure - pressure * pressure)", Type: domain.Integer},
				{Name: "kind", Formula: `region != "west" and region in ["south", "west"]`, Type: domain.Boolean},
			}}
		})},
		"split": {
			one("exact", raw, func() pipeline.Stage { return &Split{Train: 0.5, Validation: 0.25, Test: 0.25} }),
			one("independent", addRemove, func() pipeline.Stage { return &Split{Train: 0.6, Test: 0.4} }),
			one("unit", unitTable(), func() pipeline.Stage { return &Split{Train: 0.6, Test: 0.4} }),
			one("stratified", raw, func() pipeline.Stage {
				return &Split{Train: 0.5, Validation: 0.25, Test: 0.25,
					Stratify: "grade"}
			}),
			one("together", raw, func() pipeline.Stage {
				return &Split{Train: 0.5, Test: 0.5, Together: &Together{Column: "patient_id", After: "."}}
			}),
		},
		"shard": {
			one("random", raw, func() pipeline.Stage { return &Shard{Shards: 4, By: "random"} }),
			one("unit", unitTable(), func() pipeline.Stage { return &Shard{Shards: 4, By: "random"} }),
			one("position", raw, func() pipeline.Stage { return &Shard{Shards: 4, By: "position"} }),
		},
		"dp_bounds": {
			one("all", undeclared(clinicTable()), func() pipeline.Stage {
				return &DPBounds{LowExponent: 0, HighExponent: 20, Failure: 0.001, NoiseMultiplier: 0.5}
			}),
			one("several rows a unit", undeclared(unitTable()), func() pipeline.Stage {
				return &DPBounds{Columns: []string{"pressure"}, LowExponent: 4, HighExponent: 9, Failure: 0.9, NoiseMultiplier: 1}
			}),
		},
		"dp_categories": {
			one("replace_one", raw, func() pipeline.Stage {
				return &DPCategories{Other: "other", Most: 9, Delta: 0.3,
					NoiseMultiplier: 0.5}
			}),
			one("two columns, add_remove", texts(addRemove), func() pipeline.Stage {
				return &DPCategories{Other: "rest", Most: 2,
					Delta: 0.3, NoiseMultiplier: 1}
			}),
			one("several rows a unit", texts(unitTable()), func() pipeline.Stage {
				return &DPCategories{Other: "rest", Most: 9,
					Delta: 0.01, NoiseMultiplier: 0.2}
			}),
		},
		"dp_count": {
			one("add_remove", addRemove, func() pipeline.Stage { return &DPCount{NoiseMultiplier: 2} }),
			one("several rows a unit", unitTable(), func() pipeline.Stage { return &DPCount{NoiseMultiplier: 2} }),
			one("after a filter", pipelinetest.After(t, raw, &Filter{Keep: "age > 30", Missing: "drop"}),
				func() pipeline.Stage { return &DPCount{NoiseMultiplier: 2} }),
		},
		"write": {one("csv", raw, func() pipeline.Stage {
			return &Write{Formats: pipeline.FormatsOf(pipeline.FileFormat{Name: "csv", Usual: true})}
		})},
		"read": {whole(fails(pipelinetest.Case{Name: "absent file", In: map[string]pipelinetest.Input{},
			Stage: func() pipeline.Stage {
				return &Read{File: "reference.csv", Class: "public", Columns: clinic().Columns}
			}}))},
	}
}

func TestConformance(t *testing.T) { pipelinetest.CheckKinds(t, Kinds(), conformance(t)) }
