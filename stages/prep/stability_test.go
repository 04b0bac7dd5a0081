package prep

import (
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
)

// TestStability: the table of docs/design.md section 3, by kind: what becomes of rows(1), shards(3) and
// unbounded.
func TestStability(t *testing.T) {
	rows, shards, unbounded := pipeline.Rows(1), pipeline.Shards(3), pipeline.Unbounded()
	keep := [3]pipeline.Stability{rows, shards, unbounded}
	loses := [3]pipeline.Stability{unbounded, unbounded, unbounded}
	knn := func(scope string) pipeline.Stage {
		return &ImputeKNN{Neighbors: 3, Weights: "uniform", Scope: scope, Scale: "none"}
	}
	private, free := cleaned(t).Header, public(cleaned(t)).Header
	full := complete(t).Header
	for _, c := range []struct {
		name      string
		stage     pipeline.Stage
		in        pipeline.Header
		reference *pipeline.Header
		port      string
		want      [3]pipeline.Stability
	}{
		{"select", &Select{Columns: []string{"age"}}, private, nil, "out", keep},
		{"drop", &Drop{Columns: []string{"age"}}, private, nil, "out", keep},
		{"bounds", &Bounds{Outside: "clip"}, private, nil, "out", keep},
		{"missing_indicator", &MissingIndicator{Suffix: "_m"}, private, nil, "out", keep},
		{"impute_constant", &ImputeConstant{Numbers: map[string]float64{"age": 40}}, private, nil, "out", keep},
		{"filter", &Filter{Keep: "age > 30", Missing: "drop"}, private, nil, "out", keep},
		{"derive", &Derive{Columns: []Derived{{Name: "x", Formula: "age", Type: domain.Integer}}}, private, nil, "out",
			keep},
		{"encode", &Encode{MinMax: [2]float64{0, 1}, Missing: "category"}, full, nil, "out", keep},
		{"uniform bins", &Discretize{Strategy: "uniform", Bins: 3}, private, nil, "out", keep},
		{"quantiles of the table", &Discretize{Strategy: "quantile", Bins: 3}, private, nil, "out", loses},
		{"quantiles of a public table", &Discretize{Strategy: "quantile", Bins: 3}, private, &free, "out", keep},
		{"quantiles of a private table", &Discretize{Strategy: "quantile", Bins: 3}, private, &private, "out", loses},
		{"knn, table", knn("table"), private, nil, "out", loses},
		{"knn, shard", knn("shard"), private.WithShardColumn(3), nil, "out", [3]pipeline.Stability{unbounded, shards,
			unbounded}},
		{"knn, public reference", knn("reference"), private, &free, "out", keep},
		{"knn, private reference", knn("reference"), private, &private, "out", loses},
		{"shard", &Shard{Shards: 8, By: "random"}, private, nil, "out", [3]pipeline.Stability{pipeline.Shards(8), unbounded,
			unbounded}},
		{"one shard", &Shard{Shards: 1, By: "random"}, private, nil, "out", [3]pipeline.Stability{pipeline.Shards(1),
			unbounded, unbounded}},
		{"shard by position", &Shard{Shards: 8, By: "position"}, private, nil, "out",
			[3]pipeline.Stability{pipeline.Shards(8), unbounded, unbounded}},
		{"released bounds", &DPBounds{HighExponent: 9, Failure: 0.1}, undeclared(clinicTable()).Header, nil, "out", keep},
		{"released categories", &DPCategories{Other: "other", Most: 9, Delta: 0.1, Columns: []string{"patient_id"}},
			clinicTable().Header, nil, "out", keep},
		{"split", &Split{Train: 0.5, Test: 0.5}, private, nil, "train", keep},
		{"split by a value", &Split{Train: 0.5, Test: 0.5, Together: &Together{Column: "grade"}}, private, nil, "train",
			keep},
		{"stratified, train", &Split{Train: 0.5, Validation: 0.2, Test: 0.3, Stratify: "grade"}, private, nil, "train",
			[3]pipeline.Stability{pipeline.Rows(2), unbounded, unbounded}},
		{"stratified, validation", &Split{Train: 0.5, Validation: 0.2, Test: 0.3, Stratify: "grade"}, private, nil,
			"validation", [3]pipeline.Stability{pipeline.Rows(3), unbounded, unbounded}},
	} {
		for i, before := range keep {
			in := pipeline.Headers{"in": c.in}
			h := c.in
			h.Stability = before
			in["in"] = h
			if c.reference != nil {
				in["reference"] = *c.reference
			}
			o, err := c.stage.Plan(in)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			if got := o.Out[c.port].Stability; got != c.want[i] {
				t.Errorf("%s: %v becomes %v, want %v", c.name, before, got, c.want[i])
			}
		}
	}
}

// TestFindings: where stability is lost, a finding names the audit rule.
func TestFindings(t *testing.T) {
	h := cleaned(t).Header
	dropped := h
	dropped.Rows = 0
	others := h
	others.OwnRows = false
	removal := h
	removal.Terms.Adjacency = privacy.AddRemove
	for _, c := range []struct {
		rule  string
		stage pipeline.Stage
		in    pipeline.Header
	}{
		{"W03", &ImputeKNN{Neighbors: 3, Weights: "uniform", Scope: "table", Scale: "none"}, h},
		{"W01", &Discretize{Strategy: "quantile", Bins: 3}, h},
		{"W05", &Split{Train: 0.5, Test: 0.5, Stratify: "grade"}, h},
		{"W22", &Shard{Shards: 4, By: "position"}, dropped}, // a filter before: positions are no longer public
		{"W22", &Shard{Shards: 4, By: "position"}, removal}, // removing a row shifts the others
		{"W22", &Shard{Shards: 4, By: "random"}, others},    // rows of other units change
		{"W22", &Shard{Shards: 4, By: "position"}, others},  // another's row takes the place
	} {
		o, err := c.stage.Plan(pipeline.Headers{"in": c.in})
		if err != nil || len(o.Findings) != 1 || o.Findings[0].Rule != c.rule || o.Findings[0].Fix == "" {
			t.Errorf("%T: findings %+v, error %v; want one of rule %s", c.stage, o.Findings, err, c.rule)
		}
	}
	if o, err := (&ImputeKNN{Neighbors: 3, Weights: "uniform", Scope: "table", Scale: "none"}).Plan(pipeline.Headers{
		"in": public(cleaned(t)).Header}); err != nil || len(o.Findings) > 0 {
		t.Errorf("a public table: findings %v, error %v; want none", o.Findings, err)
	}
}

// TestRowCounts: row counts: public ones stay through row-by-row stages, and are private after
// a filter, whose result depends on values.
func TestRowCounts(t *testing.T) {
	h := clinicTable().Header
	for _, c := range []struct {
		stage pipeline.Stage
		port  string
		want  int64
	}{
		{&Bounds{Outside: "clip"}, "out", 12}, {&Filter{Keep: "age > 30", Missing: "drop"}, "out", 0},
		{&Split{Train: 0.5, Test: 0.5}, "train", 6}, {&Split{Train: 0.5, Test: 0.5, Stratify: "grade"}, "train", 0},
		{&Shard{Shards: 2, By: "random"}, "out", 12},
	} {
		o, err := c.stage.Plan(pipeline.Headers{"in": h})
		if err != nil || o.Out[c.port].Rows != c.want {
			t.Errorf("%T: %d public rows, error %v; want %d", c.stage, o.Out[c.port].Rows, err, c.want)
		}
	}
}

// TestPrivateReferenceMakesPrivate: nothing of the class of a private input is lost where a reference is joined in.
func TestPrivateReferenceMakesPrivate(t *testing.T) {
	in := pipeline.Headers{"in": public(cleaned(t)).Header, "reference": cleaned(t).Header}
	o, err := (&ImputeKNN{Neighbors: 3, Weights: "uniform", Scope: "reference", Scale: "none"}).Plan(in)
	if err != nil || o.Out["out"].Class != pipeline.Private || o.Out["out"].Stability != pipeline.Unbounded() {
		t.Errorf("class %s, stability %v, error %v; want private, unbounded", o.Out["out"].Class, o.Out["out"].Stability, err)
	}
}

// TestProblems: every problem at once, each with what is accepted and the audit rule.
func TestProblems(t *testing.T) {
	h := clinicTable().Header
	unit := unitTable().Header
	noID := pipelinetest.After(t, clinicTable(), &Drop{Columns: []string{"patient_id"}}).Header
	noID.Terms.Unit = unit.Terms.Unit
	bare := clinicTable().Header
	bare.Domain = bare.Domain.Clone()
	bare.Domain.Columns[1].Bounds, bare.Domain.Columns[4].Categories = nil, nil
	for _, c := range []struct {
		stage pipeline.Stage
		in    pipeline.Header
		want  []string
	}{
		{&Encode{MinMax: [2]float64{1, -1}, Missing: "error"}, h, []string{
			"patient_id, which is text", "min_max: is [1, -1]", "the column age, which may have missing values",
			"the column region, which may have missing values", "missing: category"}},
		{&Encode{MinMax: [2]float64{0, 1}, Missing: "category"}, bare, []string{"age without declared bounds", "W01",
			"region, which has no declared categories", "W02"}},
		{&Encode{MinMax: [2]float64{0, 1}, OneHot: []string{"age"}, Ordinal: []string{"age"}}, h,
			[]string{"more than one encoding", "columns with categories"}},
		{&Bounds{Outside: "clip", Bounds: map[string]Limits{"age": {Lower: pointer(100), Upper: pointer(1)},
			"region": {Lower: pointer(1)}}}, h,
			[]string{"bounds.age: is from 100 to 1", "bounds.region", "categorical"}},
		{&ImputeKNN{Neighbors: 0, Scope: "shard", Features: []string{"patient_id"}}, h, []string{"neighbors", "no shards",
			"which is text"}},
		{&ImputeKNN{Neighbors: 3, Scope: "reference"}, h, []string{"reference: is missing"}},
		{&ImputeConstant{Numbers: map[string]float64{"age": 17.5}, Categories: map[string]string{"region": "nort"}}, h,
			[]string{"a whole number", "did you mean north?"}},
		{&Discretize{Strategy: "uniform", Bins: 2, Edges: map[string][]float64{"age": {3, 2}}}, h,
			[]string{"strictly ascending"}},
		{&Split{Train: 0.9, Test: 0.9, Stratify: "age"}, h, []string{"sum to 1.8", "a column with categories"}},
		{&Split{Train: 0.5, Test: 0.5, Stratify: "grade"}, unit, []string{"must stay together"}},
		{&Split{Train: 0.5, Test: 0.5, Stratify: "grade", Together: &Together{Column: "grades", After: "."}}, unit,
			[]string{"together: is set for a table whose privacy unit", "set together with stratify", "did you mean grade?"}},
		{&Split{Train: 0.5, Test: 0.5, Together: &Together{Column: "age", After: "."}}, h,
			[]string{"together.after: is set for age", "a column of text"}},
		{&Shard{Shards: 0, By: "random"}, noID, []string{"at least 1", "patient_id of the privacy unit", "W35"}},
		{&Decode{To: "source"}, h, []string{"without an invertible step"}},
		{&Drop{Columns: h.Domain.Names()}, h, []string{"every column"}},
		{&MissingIndicator{Columns: []string{"age"}, Suffix: ""}, h, []string{"a duplicate column"}},
		{&Bounds{Outside: "error"}, h, []string{"outside: is error on a private table", "must be missing or clip", "W30"}},
		{&Filter{Keep: "age > 1", Missing: "error"}, h, []string{"missing: is error on a private table",
			"must be drop or keep", "W30"}},
		{&Read{File: "x", Class: "private", Rows: 10, Columns: h.Domain.Columns}, h, []string{"W05"}},
	} {
		_, err := c.stage.Plan(pipeline.Headers{"in": c.in})
		if err == nil {
			t.Errorf("%T: no problem, want %v", c.stage, c.want)
			continue
		}
		for _, text := range c.want {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%T: %q is not in\n%v", c.stage, text, err)
			}
		}
	}
}

// TestReferenceProblems: a reference must have the columns whose quantiles are taken, as numbers.
func TestReferenceProblems(t *testing.T) {
	in := cleaned(t)
	for want, extended := range map[string]pipeline.Stage{
		"columns": &Drop{Columns: []string{"pressure"}},
		"ordinal": &Discretize{Strategy: "uniform", Bins: 3, Columns: []string{"pressure"}},
	} {
		s := &Discretize{Strategy: "quantile", Bins: 3, Columns: []string{"pressure"}}
		_, err := s.Plan(pipeline.Headers{"in": in.Header, "reference": public(pipelinetest.After(t, in, extended)).Header})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "pressure") {
			t.Errorf("after %T: %v, must be a problem with %q", extended, err, want)
		}
	}
}
