package anomaly

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
)

// byWeight is a scorer for tests: the weight, in whole fives.
type byWeight struct{ artifact.Scorer }

func (byWeight) Scores(f *columns.Frame) (scores []float64, err error) {
	for i := range f.Rows {
		scores = append(scores, float64(int(f.Columns[1].Numbers[i]/5)))
	}
	return scores, nil
}

// weights returns a table of visitors who differ in age and weight alone.
func weights(rows [][2]int) pipeline.Table {
	in := visitors(1)
	var c [4][]any
	for _, r := range rows {
		c[0], c[1], c[2], c[3] = append(c[0], r[0]), append(c[1], r[1]), append(c[2], "north"), append(c[3], "low")
	}
	in.Header.Rows = 0
	r := pipelinetest.Rows(in.Header.Domain, c[:]...)
	half := (r.NumRows() + 1) / 2
	return pipeline.FromRecords(in.Header, r.NewSlice(0, half), r.NewSlice(half, r.NumRows()))
}

// keptRows returns the ages and weights of the rows that a stage leaves.
func keptRows(t *testing.T, s Remove, of pipeline.Table) (rows [][2]int) {
	t.Helper()
	left, err := s.remaining(t.Context(), of, of.Header, byWeight{})
	must(t, err)
	r, err := left.Collect(t.Context())
	must(t, err)
	for i := range int(r.NumRows()) {
		rows = append(rows, [2]int{int(r.Column(0).(*array.Int64).Value(i)), int(r.Column(1).(*array.Float64).Value(i))})
	}
	return rows
}

// TestHighestGo: the highest scores go, and of those whose score is equal the ones with
// higher contents; the others stay in their order.
func TestHighestGo(t *testing.T) {
	all := [][2]int{{50, 71}, {40, 96}, {51, 70}, {30, 64}, {51, 71}, {40, 90}}
	for n, want := range map[int64][][2]int{
		1: {{50, 71}, {51, 70}, {30, 64}, {51, 71}, {40, 90}},
		2: {{50, 71}, {51, 70}, {30, 64}, {51, 71}},
		3: {{50, 71}, {51, 70}, {30, 64}},
		4: {{50, 71}, {30, 64}},
		5: {{30, 64}},
		6: nil,
		7: nil,
	} {
		if got := keptRows(t, Remove{Rows: number(n)}, weights(all)); !slices.Equal(got, want) {
			t.Errorf("without the %d highest of %v: %v, must be %v", n, all, got, want)
		}
	}
	if got, want := keptRows(t, Remove{Above: score(14)}, weights(all)), [][2]int{{50, 71}, {51, 70}, {30, 64},
		{51, 71}}; !slices.Equal(got, want) {
		t.Errorf("above 14 is taken out of %v: %v, must be %v", all, got, want)
	}
}

// TestOneRowMovesOne: the proof in the comment of Remove, tried on every table of up to
// five of six different rows, at any place of which one row more stands, in that order and
// the other: without the highest 1, 2 or 3 rows the longer table has all rows that the
// shorter has, and at most one more.
func TestOneRowMovesOne(t *testing.T) {
	rows := [][2]int{{1, 60}, {2, 60}, {1, 61}, {1, 70}, {2, 74}, {9, 80}}
	var try func(table [][2]int)
	tried := 0
	try = func(table [][2]int) {
		for n := int64(1); n <= 3; n++ {
			s := Remove{Rows: number(n)}
			before := keptRows(t, s, weights(table))
			for _, r := range rows {
				tried++
				at := tried % (len(table) + 1)
				longer := slices.Insert(slices.Clone(table), at, r)
				if tried%2 == 0 {
					slices.Reverse(longer)
				}
				after := keptRows(t, s, weights(longer))
				for _, b := range before {
					if i := slices.Index(after, b); i >= 0 {
						after = slices.Delete(after, i, i+1)
					} else {
						t.Fatalf("%v without %d rows has %v, and not with %v", table, n, b, r)
					}
				}
				if len(after) > 1 {
					t.Fatalf("%v without %d rows: %v brings %v", table, n, r, after)
				}
			}
		}
		if len(table) < 5 {
			first := 0
			if len(table) > 0 {
				first = slices.Index(rows, table[len(table)-1])
			}
			for _, r := range rows[first:] { // tables as multisets: places are tried above
				try(append(slices.Clone(table), r))
			}
		}
	}
	try(nil)
	if tried < 8000 {
		t.Errorf("only %d pairs were tried", tried)
	}
}

// TestStabilityOfRemoval: what becomes of class, stability, own rows and row count.
func TestStabilityOfRemoval(t *testing.T) {
	sharded := func(h *pipeline.Header) {
		*h = h.WithShardColumn(3)
		h.Stability = pipeline.Shards(3)
	}
	for name, c := range map[string]struct {
		s         Remove
		change    func(*pipeline.Header)
		class     pipeline.Class
		stability pipeline.Stability
		own       bool
		rows      int64
	}{
		"the highest": {Remove{Placement: "pre", Rows: number(5)}, func(*pipeline.Header) {},
			pipeline.Private, pipeline.Rows(1), false, 35},
		"the highest of groups": {Remove{Placement: "pre", Rows: number(5)}, group, pipeline.Private, pipeline.Rows(2),
			false, 35},
		"the highest of a private n": {Remove{Placement: "pre", Rows: number(5)}, addRemove, pipeline.Private,
			pipeline.Rows(1), false, 0},
		"above": {Remove{Placement: "pre", Above: score(0.1)}, func(*pipeline.Header) {},
			pipeline.Private, pipeline.Rows(1), true, 0},
		"above, in shards": {Remove{Placement: "pre", Above: score(0.1)}, sharded, pipeline.Private,
			pipeline.Shards(3), true, 0},
		"the highest of drawn rows": {Remove{Placement: "post", Rows: number(5)}, released, pipeline.Released,
			pipeline.Unbounded(), true, 35},
		"drawn rows above": {Remove{Placement: "post", Above: score(0.1)}, released, pipeline.Released,
			pipeline.Unbounded(), true, 0},
		"the highest of public rows": {Remove{Placement: "pre", Rows: number(5)},
			func(h *pipeline.Header) { h.Class = pipeline.Public }, pipeline.Released, pipeline.Rows(1), true, 35},
		"the highest of what may vary": {Remove{Placement: "pre", Rows: number(5)},
			func(h *pipeline.Header) { h.Stability = pipeline.Unbounded() }, pipeline.Private, pipeline.Unbounded(), false, 35},
	} {
		in := changed(visitors(40), c.change)
		w, err := c.s.Plan(pipeline.Headers{"in": in.Header, "detector": untrained(t, visitors(1).Header).Header})
		must(t, err)
		out := w.Out["out"]
		if out.Class != c.class || out.Stability != c.stability || out.OwnRows != c.own || out.Rows != c.rows ||
			len(w.Spends) > 0 {
			t.Errorf("%s: %s, %s, own rows %t, %d rows, %d spends; must be %s, %s, %t, %d, 0", name, out.Class, out.Stability,
				out.OwnRows, out.Rows, len(w.Spends), c.class, c.stability, c.own, c.rows)
		}
		if written := len(w.Write) > 0; written != (c.s.Placement == "post") {
			t.Errorf("%s: written %t", name, written)
		}
	}
}

// TestDetectorOfPrivateRows: one that nobody paid for is refused, but for published claims
// and runs without privacy, where any row may change what is left.
func TestDetectorOfPrivateRows(t *testing.T) {
	detector := untrained(t, visitors(1).Header).Header
	detector.Class = pipeline.Private
	for name, c := range map[string]struct {
		change func(*pipeline.Header)
		fine   bool
	}{
		"proven":    {func(*pipeline.Header) {}, false},
		"published": {func(h *pipeline.Header) { h.Terms.Claims = pipeline.ClaimsPublished }, true},
		"none":      {func(h *pipeline.Header) { h.Terms.NoPrivacy = true }, true},
	} {
		in := changed(visitors(40), c.change)
		for _, s := range []Remove{{Placement: "pre", Rows: number(5)}, {Placement: "pre", Above: score(0.1)}} {
			w, err := s.Plan(pipeline.Headers{"in": in.Header, "detector": detector})
			if out := w.Out["out"]; c.fine && (err != nil || out.Class != pipeline.Private ||
				out.Stability != pipeline.Unbounded() || out.OwnRows) {
				t.Errorf("%s: %v, %s, %s", name, err, out.Class, out.Stability)
			}
			if !c.fine && (err == nil || !strings.Contains(err.Error(), "without a charge, must be a released detector, such "+
				"as anomaly_detector [W04]")) {
				t.Errorf("%s: error %v, must say so [W04]", name, err)
			}
		}
	}
}

// TestRemoveRefuses: problems of settings and of tables that are not the detector's.
func TestRemoveRefuses(t *testing.T) {
	fine := func() Remove { return Remove{Placement: "pre", Rows: number(5)} }
	none := func(*pipeline.Header) {}
	for want, c := range map[string]struct {
		set    func(*Remove)
		change func(*pipeline.Header)
	}{
		"remove: is missing, must be a number of rows, or above: a score": {func(s *Remove) { s.Rows = nil }, none},
		"remove: is 5, and above is given too":                            {func(s *Remove) { s.Above = score(1) }, none},
		"remove: is 40 of 40 rows, must be fewer than there are":          {func(s *Remove) { s.Rows = number(40) }, none},
		"placement: is pre, of a released table, must be post":            {func(*Remove) {}, released},
		"placement: is post, of a private table, must be pre":             {func(s *Remove) { s.Placement = "post" }, none},
		"remove_anomalies: (5, or another":                                {func(s *Remove) { s.Placement = "mid" }, none},
		"would exchange rows of others, must be above: a score": {func(*Remove) {},
			func(h *pipeline.Header) { *h = h.WithShardColumn(3) }},
		"column age is missing": {func(*Remove) {},
			func(h *pipeline.Header) { h.Domain.Columns = h.Domain.Columns[1:] }},
		"column age is encoded": {func(*Remove) {},
			func(h *pipeline.Header) { h.Domain.Columns[0].Encoding = &domain.Encoding{} }},
		"column age is numeric, must be as the detector has it: integer": {func(*Remove) {},
			func(h *pipeline.Header) { h.Domain.Columns[0].Type = domain.Numeric }},
		"column age has other bounds, must be as the detector has it: [0 100]": {func(*Remove) {}, func(h *pipeline.Header) {
			h.Domain.Columns[0].Bounds = &[2]float64{0, 99}
		}},
		"column region has other categories": {func(*Remove) {}, func(h *pipeline.Header) {
			h.Domain.Columns[2].Categories = domain.Categories{"south", "north", "west"}
		}},
		"column grade may be missing": {func(*Remove) {}, func(h *pipeline.Header) { h.Domain.Columns[3].Nullable = true }},
	} {
		s, in := fine(), changed(visitors(40), c.change)
		c.set(&s)
		if _, err := s.Plan(pipeline.Headers{"in": in.Header, "detector": untrained(t, visitors(1).Header).Header}); err ==
			nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, must say %s", err, want)
		}
	}
}

// TestOtherColumnsPass: columns that the detector does not look at, the shard's among them,
// are handed on, and tell equal scores apart.
func TestOtherColumnsPass(t *testing.T) {
	in := visitors(40)
	detector := untrained(t, in.Header)
	d := in.Header.Domain.Clone()
	d.Columns = append(d.Columns, domain.Column{Name: "note", Type: domain.Text})
	notes := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range 40 {
		notes.Append(fmt.Sprint("note ", i))
	}
	h := pipeline.TableHeader(d, in.Header)
	table := pipeline.FromRecords(h, array.NewRecord(h.Schema, append(slices.Clone(in.Rows.Columns()), notes.NewArray()),
		40))
	out, err := pipelinetest.Run(t, &Remove{Placement: "pre", Rows: number(15)}, pipelinetest.Env(1, Kinds()...),
		pipeline.Tables{"in": table, "detector": detector})
	must(t, err)
	r, err := out["out"].Collect(t.Context())
	must(t, err)
	last := -1
	for i := range int(r.NumRows()) {
		var pos int
		if _, err := fmt.Sscanf(r.Column(4).(*array.String).Value(i), "note %d", &pos); err != nil || pos <= last ||
			r.Column(0).ValueStr(i) != in.Rows.Column(0).ValueStr(pos) {
			t.Errorf("row %d is note %d behind note %d", i, pos, last)
		}
		last = pos
	}
	if r.NumRows() != 25 || !r.Schema().Equal(h.Schema) {
		t.Errorf("%d rows of %v", r.NumRows(), r.Schema())
	}
}
