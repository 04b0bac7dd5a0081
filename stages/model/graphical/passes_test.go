package graphical

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
)

// TestCountersReleaseTheSameBytes: from one key each kind, by default and with settings, releases the same files
// whether rows are held, read again and again, or stay in a database that counts them: of a table with every form of
// column, under both adjacencies, of one with rules of the domain, which bring rows to other codes, and of one with
// heaps, whose points are counted.
func TestCountersReleaseTheSameBytes(t *testing.T) {
	same := func(what string, stage pipeline.Stage, in pipelinetest.Input) {
		a := attempt{stage: stage, in: in, multiplier: 0.2, key: 3, workers: 2, counting: pipeline.CountHeld}
		stored, _ := a.run(t)
		a.counting = pipeline.CountPasses
		if passes, _ := a.run(t); fingerprint(t, passes) != fingerprint(t, stored) {
			t.Errorf("%s: counted in passes, another model is released", what)
		}
		a.stays = true
		if stays, _ := a.run(t); fingerprint(t, stays) != fingerprint(t, stored) {
			t.Errorf("%s: counted in a database, another model is released", what)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(configured())) {
		for what, stage := range configured()[name] {
			same(name+" "+what, stage(), ward(200))
			same(name+" "+what+" add_remove", stage(), private(ward(200)))
		}
	}
	for _, stage := range every() {
		same(fmt.Sprintf("%T of stays", stage), stage, stays(60))
		same(fmt.Sprintf("%T of gains", stage), stage, gains(1000))
	}
}

// second returns a table whose rows are others from the second reading on, or end in an error.
func second(in pipelinetest.Input, yes arrow.Record, failure error) pipeline.Table {
	readings := 0
	return pipeline.Table{Header: in.Header, Open: func(context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) {
			if readings++; readings == 1 {
				yield(in.Rows, nil)
			} else if yield(yes, nil) && failure != nil {
				yield(nil, failure)
			}
		}
	}}
}

// TestWhatFailsBehindTheFirstPass: what was read before is paid for then, and the stage ends with the reason: rows that
// cannot be read again, or a table that is not the one of the first pass, by its rows or by a value alone.
func TestWhatFailsBehindTheFirstPass(t *testing.T) {
	in, other, values := ward(60), ward(61), slices.Repeat([]any{0}, 1000)
	for _, stage := range every() {
		for _, c := range []struct {
			want string
			then pipeline.Table
		}{
			{"line 7 is no row", second(in, in.Rows.NewSlice(0, 5), errors.New("line 7 is no row"))},
			{"the table has changed while the run read it; not", second(in, other.Rows, nil)},                 // a row more
			{"the table has changed while the run read it; not", second(in, other.Rows.NewSlice(1, 61), nil)}, // other values
		} {
			opened, err := tried(t, stage, c.then, pipeline.CountPasses)
			if opened == 0 || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%T: %d mechanisms were opened, must be one or more; error %v, must be %s", stage, opened, err, c.want)
			}
			if changed := strings.HasPrefix(c.want, "the table"); errors.Is(err, pipeline.ErrChanged) != changed {
				t.Errorf("%T: error %v, must be a changed table: %t", stage, err, changed)
			}
		}
	}
	points := gains(1000)
	opened, err := tried(t, independentKind().New(), second(points, pipelinetest.Rows(points.Header.Domain, values), nil),
		pipeline.CountPasses)
	if opened != 1 || !errors.Is(err, pipeline.ErrChanged) {
		t.Errorf("points: %d mechanisms were opened, must be 1; error %v", opened, err)
	}
}

// TestPlanSaysWhereRowsAreCounted: by public rows alone, those that auto is told included, and nothing where they are
// held.
func TestPlanSaysWhereRowsAreCounted(t *testing.T) {
	const most = 1 << 29 / 13 // rows of 13 columns, two bytes a code
	for _, k := range append(learning(), autoKind()) {
		for rows, want := range map[int64]bool{0: false, most: false, most + 1: true, 1e15: true} {
			h := thirteen("add_remove")
			in := h["in"]
			in.Rows = rows
			if got := saysPasses(t, k.New(), in); got != want {
				t.Errorf("%s of %d rows: says passes: %t, must be %t", k.Name, rows, got, want)
			}
		}
	}
	in := thirteen("add_remove")["in"]
	in.Rows = 0
	s := autoKind().New().(*Auto)
	s.Rows = most + 1
	if !saysPasses(t, s, in) {
		t.Error("auto does not go by the rows that it is told")
	}
}

func saysPasses(t *testing.T, s pipeline.Stage, h pipeline.Header) bool {
	t.Helper()
	w, err := s.Plan(pipeline.Headers{"in": h})
	must(t, err)
	return slices.ContainsFunc(w.Decide(1).Decided, func(d pipeline.Decided) bool { return d.Setting == "counts" })
}
