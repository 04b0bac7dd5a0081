package prep

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/schema"
)

// Reference values: testdata/golden/METRICS.md section 3 and the files named in
// each test; they come from scikit-learn 1.2.1, NumPy and pandas.

type tolerance struct{ Abs, Rel float64 }

func (t tolerance) covers(got, want float64) bool {
	return math.Abs(got-want) <= t.Abs+t.Rel*math.Abs(want)
}

type goldenCase struct {
	ID, Kind string
	Params   json.RawMessage
	Input    json.RawMessage
	Expected json.RawMessage
	Tol      tolerance
}

func decode(t *testing.T, c goldenCase, raw json.RawMessage, v any) {
	t.Helper()
	if len(raw) == 0 {
		return
	}
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatalf("%s: %v", c.ID, err)
	}
}

// checks handle the cases of one file, by kind.
type checks map[string]func(*testing.T, goldenCase)

// eachCase runs every case of a reference file through the check of its kind.
func eachCase(t *testing.T, file string, rules checks) {
	var f struct{ Cases []goldenCase }
	stattest.LoadGolden(t, file, &f)
	rules.run(t, f.Cases)
}

// copied runs the cases that testdata holds, for a clone without the folder.
func copied(t *testing.T, file string, rules checks) {
	var f struct{ Cases []goldenCase }
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	rules.run(t, f.Cases)
}

func (rules checks) run(t *testing.T, cases []goldenCase) {
	if len(cases) == 0 {
		t.Error("no cases")
	}
	for _, c := range cases {
		check := rules[c.Kind]
		if check == nil {
			t.Errorf("%s: nobody handles the kind %s", c.ID, c.Kind)
			continue
		}
		t.Run(c.ID, func(t *testing.T) { check(t, c) })
	}
}

var (
	scalingChecks = checks{"minmax": minMaxCase, "round_integer": roundIntegerCase, "round_decimals": roundDecimalsCase,
		"standardize": standardizeCase, "outlier_to_missing": outlierCase, "numeric_or_na": notAvailableCase}
	binningChecks  = checks{"binning": binningCase}
	splitChecks    = checks{"stratified_split": splitCase}
	encodingChecks = checks{"onehot": encodeCase, "ordinal": encodeCase, "inverse_onehot": softmaxCase}
)

func TestCopiedCases(t *testing.T) {
	copied(t, "scaling.json", scalingChecks)
	copied(t, "binning.json", binningChecks)
	copied(t, "split.json", splitChecks)
	copied(t, "encoding.json", encodingChecks)
}

// compare holds numbers to wanted ones; nil is missing.
func compare(t *testing.T, what string, tol tolerance, got []*float64, want []*float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if (got[i] == nil) != (want[i] == nil) || want[i] != nil && !tol.covers(*got[i], *want[i]) {
			t.Errorf("%s: value %d is %v, want %v", what, i, show(got[i]), show(want[i]))
		}
	}
}

func show(x *float64) any {
	if x == nil {
		return "missing"
	}
	return *x
}

func pointers(values []float64) []*float64 {
	list := make([]*float64, len(values))
	for i := range values {
		list[i] = &values[i]
	}
	return list
}

// listed returns a column of a record as numbers, nil where missing.
func listed(t *testing.T, a arrow.Array) []*float64 {
	t.Helper()
	values, err := floats(a)
	if err != nil {
		t.Fatal(err)
	}
	list := pointers(append([]float64(nil), values...))
	for i := range list {
		if a.IsNull(i) {
			list[i] = nil
		}
	}
	return list
}

func anys(values []*float64) []any {
	list := make([]any, len(values))
	for i, v := range values {
		if v != nil {
			list[i] = *v
		}
	}
	return list
}

// table returns a public table of the given columns.
func table(columns []domain.Column, values ...[]any) pipelinetest.Input {
	d := &domain.Domain{Columns: columns}
	return pipelinetest.Input{Header: pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Public}),
		Rows: pipelinetest.Rows(d, values...)}
}

// TestGoldenScaling: preprocess_scaling.json.
func TestGoldenScaling(t *testing.T) {
	eachCase(t, "preprocess_scaling.json", scalingChecks)
}

func minMaxCase(t *testing.T, c goldenCase) {
	var p struct {
		Lower, Upper []float64
		Range        [2]float64
	}
	var in struct {
		Columns [][]*float64
		Inverse [][]*float64 `json:"inverse_columns"`
	}
	var want struct {
		Transform, Inverse [][]*float64
		Clip               [][]*float64 `json:"transform_clip"`
		Clipped            [][]*float64 `json:"inverse_clipped_to_bounds"`
	}
	decode(t, c, c.Params, &p)
	decode(t, c, c.Input, &in)
	decode(t, c, c.Expected, &want)
	for i := range p.Lower {
		e := scaling{Form: domain.MinMax, Range: p.Range, Lower: p.Lower[i], Upper: p.Upper[i]}
		stored := restoring(domain.Column{Type: domain.Numeric, Bounds: &[2]float64{p.Lower[i], p.Upper[i]}})
		compare(t, "transform", c.Tol, mapped(in.Columns[i], e.onLine()), want.Transform[i])
		single := tolerance{Abs: 1e-6, Rel: 1e-6} // encoded columns are float32
		compare(t, "transform_clip", single,
			mapped(in.Columns[i], func(x float64) float64 { return float64(e.scale([]float64{x})[0]) }), want.Clip[i])
		compare(t, "inverse", c.Tol, mapped(in.Inverse[i], e.backward), want.Inverse[i])
		compare(t, "inverse clipped", c.Tol,
			mapped(in.Inverse[i], func(z float64) float64 { return stored.value(e.backward(z)) }), want.Clipped[i])
	}
}

// onLine returns the encoding without its limits.
func (e scaling) onLine() func(x float64) float64 {
	offset, slope, _, _ := e.line()
	return func(x float64) float64 { return offset + slope*x }
}

func mapped(values []*float64, f func(float64) float64) []*float64 {
	list := make([]*float64, len(values))
	for i, v := range values {
		if v != nil {
			x := f(*v)
			list[i] = &x
		}
	}
	return list
}

func roundIntegerCase(t *testing.T, c goldenCase) {
	var p struct {
		Lower, Upper float64
		Range        [2]float64
	}
	var in struct{ Scaled []*float64 }
	var want struct {
		Even []*float64 `json:"half_to_even"`
	}
	decode(t, c, c.Params, &p)
	decode(t, c, c.Input, &in)
	decode(t, c, c.Expected, &want)
	e := scaling{Form: domain.MinMax, Range: p.Range, Lower: p.Lower, Upper: p.Upper}
	whole := restoring(domain.Column{Type: domain.Integer, Bounds: &[2]float64{p.Lower, p.Upper}})
	compare(t, "half_to_even", c.Tol, mapped(in.Scaled, func(z float64) float64 { return whole.value(e.backward(z)) }),
		want.Even)
}

func roundDecimalsCase(t *testing.T, c goldenCase) {
	var in struct{ X []*float64 }
	want := map[string][]*float64{}
	decode(t, c, c.Input, &in)
	decode(t, c, c.Expected, &want)
	for digits, values := range want {
		var n float64
		decode(t, c, json.RawMessage(digits), &n)
		r := restoring(domain.Column{Type: domain.Numeric, Step: math.Pow(10, -n)})
		compare(t, digits+" decimals", c.Tol, mapped(in.X, r.value), values)
	}
}

func standardizeCase(t *testing.T, c goldenCase) {
	var in struct{ Columns [][]*float64 }
	var want struct {
		Mean, Scale []float64
		Transform   [][]*float64
	}
	decode(t, c, c.Input, &in)
	decode(t, c, c.Expected, &want)
	for i := range in.Columns {
		e := scaling{Form: domain.Standard, Mean: want.Mean[i], SD: want.Scale[i]}
		compare(t, "transform", c.Tol, mapped(in.Columns[i], e.onLine()), want.Transform[i])
		compare(t, "there and back", c.Tol, mapped(mapped(in.Columns[i], e.onLine()), e.backward), in.Columns[i])
	}
}

func outlierCase(t *testing.T, c goldenCase) {
	var p Limits
	var in struct{ Column []*float64 }
	var want struct {
		Column   []*float64
		Replaced int `json:"n_replaced"`
		Missing  int `json:"n_missing"`
	}
	decode(t, c, c.Params, &p)
	decode(t, c, c.Input, &in)
	decode(t, c, c.Expected, &want)
	raw := table([]domain.Column{{Name: "x", Type: domain.Numeric, Nullable: true}}, anys(in.Column))
	out := pipelinetest.After(t, raw, &Bounds{Outside: "missing", Bounds: map[string]Limits{"x": p}})
	compare(t, "column", c.Tol, listed(t, out.Rows.Column(0)), want.Column)
	if n := out.Rows.Column(0).NullN(); n != want.Missing || n-raw.Rows.Column(0).NullN() != want.Replaced {
		t.Errorf("%d missing, want %d, of which %d replaced", n, want.Missing, want.Replaced)
	}
}

func notAvailableCase(t *testing.T, c goldenCase) {
	var p struct {
		Sentinel, Lower, Upper float64
		Range                  [2]float64
	}
	var in struct {
		Column []*float64
		Pairs  [][2]float32 `json:"inverse_pairs_indicator_scaled"`
	}
	var want struct {
		NotAvailable []*float64 `json:"not_available"`
		Value        []*float64
		Scaled       []*float64 `json:"value_scaled"`
		Inverse      []*float64
	}
	decode(t, c, c.Params, &p)
	decode(t, c, c.Input, &in)
	decode(t, c, c.Expected, &want)
	raw := table([]domain.Column{{Name: "x", Type: domain.Numeric, Bounds: &[2]float64{p.Lower, p.Upper}, Nullable: true}},
		anys(in.Column))
	split := pipelinetest.After(t, raw, &NotAvailable{Columns: map[string]float64{"x": p.Sentinel}, Suffix: "_na"})
	compare(t, "value", c.Tol, listed(t, split.Rows.Column(0)), want.Value)
	compare(t, "not_available", c.Tol, listed(t, split.Rows.Column(1)), want.NotAvailable)
	e := scaling{Form: domain.MinMax, Range: p.Range, Lower: p.Lower, Upper: p.Upper}
	compare(t, "value_scaled", c.Tol, mapped(want.Value, e.onLine()), want.Scaled)

	encoded := pipelinetest.After(t, split, &Filter{Keep: "not missing(x)", Missing: "keep"},
		&ImputeConstant{Numbers: map[string]float64{"x": 0}, Categories: map[string]string{"x_na": "no"}},
		&Encode{MinMax: p.Range, Missing: "error"})
	var dense []float32
	for _, pair := range in.Pairs {
		dense = append(dense, pair[1], pair[0])
	}
	// float32 in
	compare(t, "inverse", tolerance{Rel: 1e-6}, listed(t, toSource(t, encoded.Header, dense).Column(0)), want.Inverse)
}

// toSource decodes rows of numbers and undoes every step.
func toSource(t *testing.T, h pipeline.Header, dense []float32) arrow.Record {
	t.Helper()
	r, err := DecodeRows(h, dense, Draw{Argmax: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := DecodedHeader(h)
	if err != nil {
		t.Fatal(err)
	}
	source, err := Invert(pipeline.FromRecords(decoded, r), nil)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := source.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// TestGoldenBinning: preprocess_binning.json.
func TestGoldenBinning(t *testing.T) {
	eachCase(t, "preprocess_binning.json", binningChecks)
}

func binningCase(t *testing.T, c goldenCase) {
	var p struct {
		Strategy string
		Bins     int
		Bounds   json.RawMessage
	}
	var in struct{ X []float64 }
	var want struct {
		Edges, Midpoints, Inverse []float64
		Codes                     []int32
		Effective                 int `json:"n_bins_effective"`
	}
	decode(t, c, c.Params, &p)
	decode(t, c, c.Input, &in)
	decode(t, c, c.Expected, &want)
	edges := goldenEdges(t, c, p.Strategy, p.Bins, p.Bounds, in.X)
	if want.Edges != nil {
		compare(t, "edges", c.Tol, pointers(edges), pointers(want.Edges))
	}
	if want.Effective != 0 && len(edges)-1 != want.Effective {
		t.Errorf("%d bins, want %d", len(edges)-1, want.Effective)
	}
	for i, x := range in.X {
		code := bin(edges, x)
		if code != want.Codes[i] {
			t.Errorf("value %d has code %d, want %d", i, code, want.Codes[i])
		}
		if want.Inverse != nil && !c.Tol.covers(within(edges, code, 0.5), want.Inverse[i]) {
			t.Errorf("value %d comes back as %v, want %v", i, within(edges, code, 0.5), want.Inverse[i])
		}
	}
	for i, m := range want.Midpoints {
		if got := within(edges, int32(i), 0.5); !c.Tol.covers(got, m) {
			t.Errorf("midpoint %d is %v, want %v", i, got, m)
		}
	}
}

func goldenEdges(t *testing.T, c goldenCase, strategy string, bins int, bounds json.RawMessage, x []float64) []float64 {
	sorted := append([]float64(nil), x...)
	quantiles := quantileEdges(sorted, bins) // sorts
	limits := [2]float64{sorted[0], sorted[len(sorted)-1]}
	if string(bounds) != `"data"` {
		decode(t, c, bounds, &limits)
	}
	switch strategy {
	case "quantile":
		return quantiles
	case "uniform":
		col := domain.Column{Name: "x", Type: domain.Numeric, Bounds: &limits}
		var ps schema.Problems
		return (&Discretize{Strategy: "uniform", Bins: bins}).edges(&ps, &col)
	}
	t.Fatalf("nobody handles the strategy %s", strategy)
	return nil
}

// TestGoldenSplit: preprocess_split.json.
func TestGoldenSplit(t *testing.T) {
	eachCase(t, "preprocess_split.json", splitChecks)
}

func splitCase(t *testing.T, c goldenCase) {
	var p struct {
		Fractions struct{ Train, Validation, Test float64 }
	}
	var in struct {
		Counts map[string]int `json:"class_counts"`
	}
	var want struct {
		SizeSlack  float64  `json:"size_slack"`
		ClassSlack *float64 `json:"class_slack"`
	}
	decode(t, c, c.Params, &p)
	decode(t, c, c.Input, &in)
	decode(t, c, c.Expected, &want)
	if want.ClassSlack == nil {
		want.SizeSlack, want.ClassSlack = 2, pointer(2) // the library refuses; ours deals by rounding
	}
	columns := []domain.Column{{Name: "row", Type: domain.Integer}, {Name: "class", Type: domain.Categorical,
		Categories: sorted(in.Counts)}}
	var rows, classes []any
	for class, n := range in.Counts {
		for range n {
			rows, classes = append(rows, len(rows)), append(classes, class)
		}
	}
	raw := table(columns, rows, classes)
	stage := &Split{Train: p.Fractions.Train, Validation: p.Fractions.Validation, Test: p.Fractions.Test,
		Stratify: "class"}
	out, err := pipelinetest.Run(t, stage, pipelinetest.Env(1), pipeline.Tables{"in": pipeline.FromRecords(raw.Header,
		raw.Rows)})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[float64]bool{}
	for i, share := range []float64{p.Fractions.Train, p.Fractions.Validation, p.Fractions.Test} {
		checkPart(t, out[parts[i]], share, in.Counts, want.SizeSlack, *want.ClassSlack, seen)
	}
	if len(seen) != len(rows) {
		t.Errorf("the parts hold %d rows, want all %d", len(seen), len(rows))
	}
}

func checkPart(t *testing.T, part pipeline.Table, share float64, counts map[string]int, sizeSlack, classSlack float64,
	seen map[float64]bool) {
	r, err := part.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	total, found := 0, map[string]int{}
	for _, n := range counts {
		total += n
	}
	for i, row := range listed(t, r.Column(0)) {
		if seen[*row] {
			t.Errorf("row %v is in two parts", *row)
		}
		seen[*row] = true
		found[part.Domain.Columns[1].Categories[int(*listed(t, r.Column(1))[i])]]++
	}
	if d := math.Abs(float64(r.NumRows()) - share*float64(total)); d > sizeSlack {
		t.Errorf("a part of share %g has %d of %d rows", share, r.NumRows(), total)
	}
	for class, n := range counts {
		if d := math.Abs(float64(found[class]) - share*float64(n)); d > classSlack {
			t.Errorf("a part of share %g has %d of %d rows of class %s", share, found[class], n, class)
		}
	}
}
