package sample

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/bill"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/privacy/noise"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
	"weir/stages/model/gan"
	"weir/stages/model/graphical"
	"weir/stages/prep"
)

// TestConformance draws from a generator with a tanh column, a standardised one and two one-hot groups.
func TestConformance(t *testing.T) {
	model := generator(t)
	files, err := pipelinetest.Collect(t.Context(), model)
	must(t, err)
	var cases []pipelinetest.Case
	some, few, none := int64(50), int64(5), int64(0)
	for name, s := range map[string]Stage{"drawn": {Rows: &some, Categorical: "sample"}, "most probable": {Rows: &few,
		Categorical: "argmax"},
		"no rows": {Rows: &none, Categorical: "sample"}, "as many as released": {Categorical: "sample"},
		"under conditions": {Rows: &few, Categorical: "sample", Where: smokers()}, "as many as released, under conditions": {
			Categorical: "sample", Where: smokers()}} {
		in := map[string]pipelinetest.Input{"in": {Header: model.Header, Rows: files}}
		if s.Rows == nil {
			in["rows_from"] = released(t, 37)
		}
		cases = append(cases, pipelinetest.Case{Name: name, Whole: true, Stage: func() pipeline.Stage { return &s }, In: in})
	}
	measured := marginals(t)
	rows, err := pipelinetest.Collect(t.Context(), measured)
	must(t, err)
	cases = append(cases, pipelinetest.Case{Name: "drawn from marginals", Whole: true,
		Stage: func() pipeline.Stage { return &Stage{Rows: &some, Categorical: "sample"} },
		In:    map[string]pipelinetest.Input{"in": {Header: measured.Header, Rows: rows}}})
	cases = append(cases, pipelinetest.Case{Name: "drawn from marginals under conditions", Whole: true,
		Stage: func() pipeline.Stage {
			return &Stage{Rows: &some, Categorical: "sample", Where: map[string]domain.Choice{"smoker": {"yes"},
				"age": {"..50", "60"}}}
		},
		In: map[string]pipelinetest.Input{"in": {Header: measured.Header, Rows: rows}}})
	measured = tree(t, 40)
	rows, err = pipelinetest.Collect(t.Context(), measured)
	must(t, err)
	cases = append(cases, pipelinetest.Case{Name: "copies", Whole: true,
		Stage: func() pipeline.Stage { return &Stage{Rows: &few, Copies: 3, Categorical: "sample"} },
		In:    map[string]pipelinetest.Input{"in": {Header: measured.Header, Rows: rows}}})
	cases = append(cases, pipelinetest.Case{Name: "copies under conditions", Whole: true,
		Stage: func() pipeline.Stage { return &Stage{Rows: &few, Copies: 3, Categorical: "sample", Where: smokers()} },
		In:    map[string]pipelinetest.Input{"in": {Header: measured.Header, Rows: rows}}})
	for i := range cases {
		cases[i].Kinds = families()
	}
	pipelinetest.CheckKinds(t, Kinds(), map[string][]pipelinetest.Case{"sample": cases})
}

// released returns what dp_count gives.
func released(t *testing.T, rows int64) pipelinetest.Input {
	t.Helper()
	h := pipeline.Header{Form: pipeline.FormCount, Class: pipeline.Released,
		Stability: pipeline.Unbounded()}
	table, err := columns.WriteRowCount(h, "count", columns.RowCount{Rows: rows})
	must(t, err)
	r, err := pipelinetest.Collect(t.Context(), table)
	must(t, err)
	return pipelinetest.Input{Header: h, Rows: r}
}

// TestRowsAreOfOneSource: a public number or a released one, and then as many rows.
func TestRowsAreOfOneSource(t *testing.T) {
	model, count := generator(t), released(t, 37)
	n := int64(4)
	in := pipeline.Tables{"in": model, "rows_from": pipelinetest.Artifact(count.Header, count.Rows)}
	out, err := pipelinetest.Run(t, &Stage{Categorical: "sample"}, pipelinetest.Env(1, families()...), in)
	must(t, err)
	r, err := out["out"].Collect(t.Context())
	must(t, err)
	if r.NumRows() != 37 {
		t.Errorf("%d rows are drawn, 37 were released", r.NumRows())
	}
	count.Header.Class = pipeline.Private // of a run without privacy
	if w, err := (&Stage{Categorical: "sample"}).Plan(pipeline.Headers{"in": model.Header,
		"rows_from": count.Header}); err != nil || w.Out["out"].Class != pipeline.Private {
		t.Errorf("as many rows as a private number says are planned as %s, %v", w.Out["out"].Class, err)
	}
	for s, ports := range map[*Stage]pipeline.Headers{
		{Rows: &n}: {"in": model.Header, "rows_from": count.Header},
		{}:         {"in": model.Header},
	} {
		if _, err := s.Plan(ports); err == nil {
			t.Errorf("rows %v with %d inputs are planned", s.Rows, len(ports))
		}
	}
}

// families lists the kinds whose models are drawn from here.
func families() []pipeline.Kind {
	return slices.Concat(gan.Kinds(), graphical.Kinds())
}

// read reads a model of these families back.
func read(ctx context.Context, t pipeline.Table) (artifact.Model, error) {
	return artifact.Read[artifact.Model](ctx, t, pipeline.ReadersOf(families()))
}

// generator returns a model released by a quick run of dp_wgan on 20 made-up rows.
func generator(t *testing.T) pipeline.Table {
	t.Helper()
	s := kind(t, "dp_wgan").New().(*gan.DPWGAN)
	s.Steps, s.ExpectedBatchSize, s.GeneratedBatch, s.LatentDim, s.Generator, s.Critic = 12, 10, 8, 3, []int{8}, []int{6}
	return trained(t, s, encoded(t), 1.5)
}

// marginals returns a model released by marginal_tree on the same rows as they are.
func marginals(t *testing.T) pipeline.Table {
	t.Helper()
	return trained(t, kind(t, "marginal_tree").New(), visits(), 0.05)
}

func kind(t *testing.T, name string) pipeline.Kind {
	t.Helper()
	for _, k := range slices.Concat(gan.Kinds(), graphical.Kinds()) {
		if k.Name == name {
			return k
		}
	}
	t.Fatalf("no kind %s", name)
	return pipeline.Kind{}
}

// trained returns what a stage releases of a table at a noise multiplier.
func trained(t *testing.T, s pipeline.Stage, in pipeline.Table, multiplier float64) pipeline.Table {
	t.Helper()
	headers := pipeline.Headers{"in": in.Header}
	w, err := s.Plan(headers)
	must(t, err)
	plan, err := bill.Price(&pipeline.Kind{In: []pipeline.Port{{Name: "in", Form: pipeline.FormTable}}}, headers, w,
		multiplier, privacy.ReplaceOne)
	must(t, err)
	env := pipelinetest.Env(2)
	env.Privacy = &pipelinetest.Ledger{Key: noise.Key{4, 5, 6}, Plan: plan}
	out, err := pipelinetest.Run(t, s, env, pipeline.Tables{"in": in})
	must(t, err)
	return out["model"]
}

// encoded returns visits as nets take it.
func encoded(t *testing.T) pipeline.Table {
	t.Helper()
	out, err := pipelinetest.Run(t, &prep.Encode{OneHot: []string{"smoker"}, MinMax: [2]float64{-1, 1}, Missing: "error",
		Standard: map[string]prep.Moments{"weight": {Mean: 75, SD: 15}}}, pipelinetest.Env(1),
		pipeline.Tables{"in": visits()})
	must(t, err)
	return out["out"]
}

// visits returns a made-up table.
func visits() pipeline.Table {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{18, 90}},
		{Name: "weight", Type: domain.Numeric, Bounds: &[2]float64{30, 200}, Step: 0.5},
		{Name: "smoker", Type: domain.Boolean, Categories: []string{"no", "yes"}},
		{Name: "region", Type: domain.Categorical, Categories: []string{"north", "south", "west"}},
	}}
	columns := make([][]any, 4)
	for i := range 20 {
		for j, v := range []any{20 + i, 60.5 + float64(i%7), []string{"no", "yes"}[i%2], []string{"north", "south",
			"west"}[i%3]} {
			columns[j] = append(columns[j], v)
		}
	}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1), Rows: 20,
		OwnRows: true,
		Terms:   pipeline.Terms{Adjacency: privacy.ReplaceOne, Claims: pipeline.ClaimsProven}})
	return pipeline.FromRecords(h, pipelinetest.Rows(d, columns...))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tree returns a released model of marginals of two columns, with noise of some 14 rows a
// cell.
func tree(t *testing.T, n int) pipeline.Table {
	t.Helper()
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{1, 4}},
		{Name: "smoker", Type: domain.Boolean, Categories: []string{"no", "yes"}},
	}}
	columns := make([][]any, 2)
	for i := range n {
		columns[0], columns[1] = append(columns[0], 1+i%4), append(columns[1], []string{"no", "yes"}[i/4%3%2])
	}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1), Rows: int64(n),
		OwnRows: true,
		Terms:   pipeline.Terms{Adjacency: privacy.ReplaceOne, Claims: pipeline.ClaimsProven}})
	var learner pipeline.Kind
	for _, k := range graphical.Kinds() {
		if k.Name == "independent" {
			learner = k
		}
	}
	s, headers := learner.New(), pipeline.Headers{"in": h}
	w, err := s.Plan(headers)
	must(t, err)
	plan, err := bill.Price(&learner, headers, w, 14, privacy.ReplaceOne)
	must(t, err)
	env := pipelinetest.Env(1)
	env.Privacy = &pipelinetest.Ledger{Key: noise.Key{7, 5, 6}, Plan: plan}
	out, err := pipelinetest.Run(t, s, env,
		pipeline.Tables{"in": pipeline.FromRecords(h, pipelinetest.Rows(d, columns...))})
	must(t, err)
	return out["model"]
}

// TestCopiesCarryTheNoise: the share of smokers differs between copies about as the
// released count of them may be off. Several tables drawn from one model would not
// differ at all, since rows are rounded: their spread must never pass for the noise.
func TestCopiesCarryTheNoise(t *testing.T) {
	const rows, copies = 4000, 60
	s := &Stage{Rows: number(rows), Copies: copies, Categorical: "sample"}
	out, err := pipelinetest.Run(t, s, pipelinetest.Env(1, families()...), pipeline.Tables{"in": tree(t, rows)})
	must(t, err)
	if h := out["out"].Header; h.Rows != rows*copies || h.Class != pipeline.Released {
		t.Errorf("%d rows, %s, must be %d, released", h.Rows, h.Class, rows*copies)
	}
	rec, err := out["out"].Collect(t.Context())
	must(t, err)
	smokers := make([]float64, copies)
	for i := range int(rec.NumRows()) {
		k := rec.Column(2).(*array.Int64).Value(i)
		if k != int64(i/rows+1) {
			t.Fatalf("row %d is of copy %d", i, k)
		}
		smokers[k-1] += float64(rec.Column(1).(*array.Int32).Value(i))
	}
	mean, squares := 0.0, 0.0
	for _, x := range smokers {
		mean += x / copies
	}
	for _, x := range smokers {
		squares += (x - mean) * (x - mean) / (copies - 1)
	}
	// independent at a multiplier of 14 under replace_one: mu^2 = 4/14^2, of which the two
	// columns of 4 and 2 cells get shares 4^(2/3) and 2^(2/3). Two cells are measured with
	// variance 2/part each, and their sum is public, so a count has half of it.
	part := math.Pow(2, 2./3) / (math.Pow(2, 2./3) + math.Pow(4, 2./3))
	want := math.Sqrt(2 / (4. / 14 / 14 * part) / 2)
	if sd := math.Sqrt(squares); sd < want*0.6 || sd > want*1.6 {
		t.Errorf("counts of %d copies have a standard deviation of %.1f, must be near %.1f", copies, sd, want)
	}
}

// TestCopiesNeedMarginals: a model that does not know its noise has none, and a table
// with a column of that name cannot have another.
func TestCopiesNeedMarginals(t *testing.T) {
	s := &Stage{Rows: number(3), Copies: 2, Categorical: "sample"}
	if _, err := s.Plan(pipeline.Headers{"in": generator(t).Header}); err == nil || !strings.Contains(err.Error(),
		"copies: is given for a model that learned encoded columns") {
		t.Errorf("copies of a network: %v", err)
	}
	h := tree(t, 8).Header
	h.Domain = &domain.Domain{Columns: []domain.Column{{Name: "copy", Type: domain.Integer, Bounds: &[2]float64{0, 1}}}}
	if _, err := s.Plan(pipeline.Headers{"in": h}); err == nil || !strings.Contains(err.Error(), "has a column copy") {
		t.Errorf("copies of a table with a column copy: %v", err)
	}
}

func number(n int64) *int64 { return &n }
