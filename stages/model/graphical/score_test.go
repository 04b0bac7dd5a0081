package graphical

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
	"weir/train/histogram"
)

// small returns a table whose every possible row can be listed: six ages in bins, a
// category with missing values, one of which some are rare, a truth.
func small() pipelinetest.Input {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{1, 6}, Nullable: true},
		{Name: "region", Type: domain.Categorical, Categories: []string{"a", "b", "c", "d", "e"}},
		{Name: "sick", Type: domain.Boolean, Categories: []string{"no", "yes"}},
	}}
	columns := make([][]any, 3)
	for i := range 300 {
		row := []any{1 + i*i%6, []string{"a", "b", "a", "b", "b", "c"}[i%6], []string{"no", "yes"}[i/7%2]}
		if i%10 == 3 {
			row[0] = nil
		}
		for j, v := range row {
			columns[j] = append(columns[j], v)
		}
	}
	return pipelinetest.Input{Header: header(d, 300), Rows: pipelinetest.Rows(d, columns...)}
}

// rowsOfAll lists each row of the domain of small once.
func rowsOfAll() (pipelinetest.Input, int) {
	in := small()
	columns, n := make([][]any, 3), 0
	for _, age := range []any{nil, 1, 2, 3, 4, 5, 6} {
		for _, region := range in.Header.Domain.Columns[1].Categories {
			for _, sick := range []string{"no", "yes"} {
				columns[0], columns[1], columns[2] = append(columns[0], age), append(columns[1], region), append(columns[2], sick)
				n++
			}
		}
	}
	return pipelinetest.Input{Header: in.Header, Rows: pipelinetest.Rows(in.Header.Domain, columns...)}, n
}

// smallModel has bins of more than one age and a code of several regions.
func smallModel(t testing.TB) pipeline.Table {
	s := marginalTreeKind().New().(*MarginalTree)
	s.Edges = map[string][]float64{"age": {1, 3, 6}}
	model, _ := attempt{stage: s, in: small(), multiplier: 0.4}.run(t)
	return model
}

// scored returns the scores of rows under a model.
func scored(t testing.TB, model pipeline.Table, in pipelinetest.Input) []float64 {
	t.Helper()
	out, err := pipelinetest.Run(t, &Score{As: "score"}, pipelinetest.Env(1),
		pipeline.Tables{"in": pipeline.FromRecords(in.Header, in.Rows), "model": model})
	must(t, err)
	rec, err := out["out"].Collect(t.Context())
	must(t, err)
	return rec.Column(int(rec.NumCols()) - 1).(*array.Float64).Float64Values()
}

// TestScoresAreProbabilities: over all rows that there can be they sum to 1, and rows
// that the model draws come as often as their scores say (chi-square at 1e-6; scores
// of bins alone are shown to fail).
func TestScoresAreProbabilities(t *testing.T) {
	model := smallModel(t)
	all, n := rowsOfAll()
	scores := scored(t, model, all)
	sum, probabilities := 0.0, make([]float64, n)
	for i, x := range scores {
		probabilities[i] = math.Exp(x)
		sum += probabilities[i]
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("the probabilities of all rows sum to %.12g, must sum to 1", sum)
	}
	m := read(t, model)
	if len(m.Columns[0].Bins) != 2 || len(m.Columns[1].Bins) > 4 {
		t.Fatalf("%v, %v: the model has no bin of several values", m.Columns[0].Bins, m.Columns[1].Bins)
	}
	const rows = 40_000
	seen, rec := make([]int, n), drawRows(t, m, rows)
	for i := range rows {
		age := 0
		if rec.Column(0).IsValid(i) {
			age = int(number(rec.Column(0), i))
		}
		seen[(age*5+int(number(rec.Column(1), i)))*2+int(number(rec.Column(2), i))]++
	}
	if p := stattest.ChiSquare(seen, probabilities, rows); p < 1e-6 {
		t.Errorf("drawn rows come %v times, with chances %.3f: p %g", seen, probabilities, p)
	}
	probabilities[2*5*2], probabilities[1*5*2] = probabilities[1*5*2], probabilities[2*5*2]
	if p := stattest.ChiSquare(seen, probabilities, rows); p >= 1e-6 {
		t.Errorf("chances of two ages that are exchanged pass, p %g", p)
	}
}

// TestRowsThatNoCodeCovers get the lower bound of the column: no error, which would
// tell of the row, and nothing infinite.
func TestRowsThatNoCodeCovers(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "sick", Type: domain.Boolean, Categories: []string{"yes", "no"}, Nullable: true},
		{Name: "other", Type: domain.Text},
		{Name: "region", Type: domain.Ordinal, Categories: []string{"z", "c", "a", "b"}},
		{Name: "age", Type: domain.Integer},
	}}
	in := pipelinetest.Input{Header: header(d, 5), Rows: pipelinetest.Rows(d, []any{"no", "no", "no", "no", nil},
		[]any{"u", nil, "v", "w", "x"},
		[]any{"a", "z", "a", "a", "a"}, []any{1, 1, 7, math.MinInt64, 1})}
	model := smallModel(t)
	got, all := scored(t, model, in), scored(t, model, one("no", "a", 1))
	if got[0] != all[0] || !(got[0] > -10) {
		t.Errorf("columns and categories in another order score %g, must score %g", got[0], all[0])
	}
	for i, x := range got[1:] {
		if x != 3*leastOfColumn {
			t.Errorf("row %d, which the model cannot draw, scores %g, must score %d", i+1, x, 3*leastOfColumn)
		}
	}
}

// one returns a single row of small.
func one(sick, region string, age int) pipelinetest.Input {
	in := small()
	in.Rows = pipelinetest.Rows(in.Header.Domain, []any{age}, []any{region}, []any{sick})
	return in
}

// TestScoreKeepsTheTypes of privacy: scores of a private table are private with its
// stability, shard and all; scores of released rows are released; under a private model,
// which there is without privacy alone, all are private and may change anywhere.
func TestScoreKeepsTheTypes(t *testing.T) {
	private := small().Header
	private.Stability, private.Terms.Adjacency = pipeline.Rows(3), privacy.AddRemove
	sharded := private.WithShardColumn(4)
	sharded.Stability = pipeline.Stability{Spread: pipeline.SpreadShards, N: 4}
	released := pipeline.TableHeader(private.Domain, pipeline.Header{Class: pipeline.Released, Rows: 9})
	model := modelHeader(private)
	exposed := model
	exposed.Class = pipeline.Private
	for what, c := range map[string]struct {
		in, model pipeline.Header
		want      string
	}{
		"private rows":       {private, model, "private rows(3) 300 true"},
		"shards":             {sharded, model, "private shards(4) 300 true"},
		"released rows":      {released, model, "released unbounded 9 false"},
		"a private model":    {private, exposed, "private unbounded 300 false"},
		"rows of such a one": {released, exposed, "private unbounded 9 false"},
	} {
		w, err := (&Score{As: "score"}).Plan(pipeline.Headers{"in": c.in, "model": c.model})
		must(t, err)
		h := w.Out["out"]
		if got := fmt.Sprint(h.Class, " ", h.Stability, " ", h.Rows, " ", h.OwnRows); got != c.want || len(w.Spends) > 0 {
			t.Errorf("%s: %s, must be %s", what, got, c.want)
		}
		if h.Schema.HasField(pipeline.ShardColumn) != c.in.Schema.HasField(pipeline.ShardColumn) {
			t.Errorf("%s: the column of shards is lost", what)
		}
	}
}

// TestScoreTellsEveryProblem at once.
func TestScoreTellsEveryProblem(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{{Name: "age", Type: domain.Categorical, Categories: []string{"1"}},
		{Name: "regions", Type: domain.Text}}}
	_, err := (&Score{As: "age"}).Plan(pipeline.Headers{"in": header(d, 3), "model": modelHeader(small().Header)})
	for _, want := range []string{"as: is age, a column of the table", "column age is categorical, must be integer",
		"did you mean regions?", "model: is \"sick\""} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("problems do not say %q:\n%v", want, err)
		}
	}
	encoded := &domain.Domain{Columns: []domain.Column{{Name: "age", Type: domain.Integer,
		Encoding: &domain.Encoding{Form: domain.MinMax, Width: 1}}}}
	_, err = (&Score{As: "x"}).Plan(pipeline.Headers{"in": small().Header, "model": modelHeader(header(encoded, 3))})
	if err == nil || !strings.Contains(err.Error(), "a model of marginals") {
		t.Errorf("a model of encoded columns: %v", err)
	}
}

// scoring returns the conformance cases of score.
func scoring(t *testing.T) []pipelinetest.Case {
	in, model := ward(40), modelInput(t)
	free := ward(40)
	free.Header = pipeline.TableHeader(in.Header.Domain, pipeline.Header{Class: pipeline.Released,
		Stability: pipeline.Unbounded(), Rows: 40})
	var cases []pipelinetest.Case
	for what, in := range map[string]pipelinetest.Input{"replace_one": in, "add_remove": private(ward(40)),
		"released rows": free} {
		cases = append(cases, pipelinetest.Case{Name: what, Stage: scoreKind().New, In: map[string]pipelinetest.Input{
			"in": in, "model": model}})
	}
	return cases
}

// modelInput returns a released model of ward, as the input of a case.
func modelInput(t *testing.T) pipelinetest.Input {
	t.Helper()
	table, _ := attempt{stage: marginalTreeKind().New(), in: ward(40), multiplier: 0.3}.run(t)
	files, err := pipelinetest.Collect(t.Context(), table)
	must(t, err)
	return pipelinetest.Input{Header: table.Header, Rows: files}
}

// asScorer reads a model as remove_anomalies does, and a table as a frame.
func asScorer(t *testing.T, model pipeline.Table, in pipelinetest.Input) (artifact.Scorer, *columns.Frame) {
	t.Helper()
	s, err := artifact.Read[artifact.Scorer](t.Context(), model, pipeline.ReadersOf(Kinds()))
	must(t, err)
	f, err := columns.Read(t.Context(), pipeline.FromRecords(in.Header, in.Rows))
	must(t, err)
	return s, f
}

// TestBitsAreOfTheFactors: each possible row's score is the score of its probability written out from the
// factors of the model: the weight of its codes over the sum of the weights of all codes, times
// the share of its value in its code. They sum to 1 as probabilities.
func TestBitsAreOfTheFactors(t *testing.T) {
	model := smallModel(t)
	in, n := rowsOfAll()
	s, f := asScorer(t, model, in)
	got, err := s.Scores(f)
	must(t, err)
	want := writtenOut(read(t, model), f)
	sum := 0.0
	for i := range n {
		sum += math.Exp2(-got[i])
		if !(math.Abs(got[i]+math.Log2(want[i])) < 1e-9) {
			t.Errorf("row %d has score %g, must have %g", i, got[i], -math.Log2(want[i]))
		}
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("all rows have the chance %.12g, must have 1", sum)
	}
}

// writtenOut returns the probabilities of rows of small, by sums over all codes.
func writtenOut(m *released, f *columns.Frame) (p []float64) {
	weight := func(codes []int) float64 {
		sum := 0.0
		for _, factor := range m.Model.Factors {
			pos := 0
			for _, c := range slices.Sorted(slices.Values(factor.Vars)) {
				pos = pos*m.Model.Domain[c] + codes[c]
			}
			sum += factor.Log[pos]
		}
		return math.Exp(sum)
	}
	all := 0.0
	for a := range m.Model.Domain[0] {
		for b := range m.Model.Domain[1] {
			for c := range m.Model.Domain[2] {
				all += weight([]int{a, b, c})
			}
		}
	}
	for i := range f.Rows {
		codes, inside := make([]int, 3), 1.0
		for j := range codes {
			cell := m.grids[j].Values()
			if c := &f.Columns[j]; !c.Absent(i) && c.Coded() {
				cell = int(c.Codes[i])
			} else if !c.Absent(i) {
				cell = int(c.Numbers[i] - c.Bounds[0])
			}
			code, share := shareOf(&m.Columns[j], cell)
			codes[j], inside = code, inside*share
		}
		p = append(p, weight(codes)/all*inside)
	}
	return p
}

// shareOf returns the code of a cell and its share there, as values are drawn (histogram.Filler).
func shareOf(c *coded, cell int) (code int, share float64) {
	place := cell
	if c.Order != nil {
		place = slices.Index(c.Order, cell)
	}
	for code, bin := range c.Bins {
		leaves := c.Leaves[bin[0]:bin[1]]
		for i, share := range histogram.Shares(leaves) {
			if place >= leaves[i].Lo && place < leaves[i].Hi {
				return code, share / float64(leaves[i].Hi-leaves[i].Lo)
			}
		}
	}
	return len(c.Bins), 1
}

// TestBitsAreOfTheRow: to the last bit, alone and in another order; a row that is never drawn has
// the highest score, and none is NaN.
func TestBitsAreOfTheRow(t *testing.T) {
	in := small()
	s, f := asScorer(t, smallModel(t), in)
	f.Columns[0].Numbers[7], f.Columns[0].Numbers[8], f.Columns[1].Codes[9] = 99, math.Inf(-1), -1
	all, err := s.Scores(f)
	must(t, err)
	turned := make([]int, f.Rows)
	for i := range turned {
		turned[i] = f.Rows - 1 - i
	}
	other, err := s.Scores(f.Take(turned))
	must(t, err)
	slices.Reverse(other)
	for i := range all {
		alone, err := s.Scores(f.Slice(i, i+1))
		must(t, err)
		if never := i >= 7 && i <= 9; !(all[i] >= 0) || alone[0] != all[i] || other[i] != all[i] ||
			never != (all[i] == 3*64/math.Ln2) {
			t.Errorf("row %d has score %g, alone %g, in a table turned round %g", i, all[i], alone[0], other[i])
		}
	}
}
