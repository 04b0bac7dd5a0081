package anomaly

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
)

func forester() pipelinetest.Learner {
	return pipelinetest.Learner{Kind: anomalyForestKind(), Stage: func() pipeline.Stage {
		return &Forest{Trees: 3,
			Depth: 4}
	}}
}

// TestForestSpendsThePlan: a Gaussian histogram a tree. Exchanging a row moves each by
// sqrt(2), of which the accountant counts 2: 1.5 sqrt(2).
func TestForestSpendsThePlan(t *testing.T) {
	_, r := forester().Trained(t, visitors(40))
	want := privacy.Event(privacy.Repeated{Count: 3, Event: privacy.Gaussian{NoiseMultiplier: 1.5 * math.Sqrt2 *
		(1 - 0x1p-50)}})
	if diff := cmp.Diff(want, r.Ledger.Plan[0].Event.Event); diff != "" || len(r.Ledger.Plan) != 1 ||
		r.Ledger.Taken("leaves") != 3 {
		t.Errorf("%d spends, %d uses, planned (-want +got):\n%s", len(r.Ledger.Plan), r.Ledger.Taken("leaves"), diff)
	}
}

// TestForestScores: by hand. One tree splits ages at 0.4 and then weights at 0.5 and ages at
// 0.8; of 3 + 0 + 1 + 12 rows, and one added to each leaf, there are 20.
func TestForestScores(t *testing.T) {
	in := visitors(2)
	in.Rows = pipelinetest.Rows(in.Header.Domain, []any{39, 40, 90, 10}, []any{79, 100, nil, nil},
		[]any{"north", "north", "north", "north"}, []any{"low", "low", "low", "low"})
	f := &forest{Columns: in.Header.Domain.Columns, Depth: 2, Trees: []tree{{Splits: []split{{0, 0.4}, {1, 0.5}, {0, 0.8}},
		Counts: []int64{3, -7, 1, 12}}}}
	table, err := f.pack(detectorHeader(in.Header))
	must(t, err)
	d, frame := read(t, table, in)
	got, err := d.Scores(frame)
	must(t, err)
	for i, want := range []float64{math.Log2(20. / 4), math.Log2(20. / 2), math.Log2(20. / 13), math.Log2(20. / 1)} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("row %d has score %g, must be %g", i, got[i], want)
		}
	}
}

// TestSplitsAreOfTheDomain: every number is split at a place between its bounds, every
// indicator in the middle, and the same seed gives the same trees.
func TestSplitsAreOfTheDomain(t *testing.T) {
	d := visitors(1).Header.Domain
	draw := func() []split { return splits(d, 12, rand.New(rand.NewPCG(3, 4))) }
	seen := map[int]int{}
	for _, s := range draw() {
		seen[s.At]++
		indicator := s.At == 2 || s.At >= 3 && s.At <= 6
		if !(s.Below >= 0 && s.Below <= 1) || indicator && s.Below != 0.5 {
			t.Errorf("split %+v", s)
		}
	}
	if len(seen) != 8 || !cmp.Equal(draw(), draw()) {
		t.Errorf("places %v", seen)
	}
}

// TestForestFindsThePlantedRow: at noise multiplier 1.5 the row that is 20 deviations away
// is among the five highest of 1,000.
func TestForestFindsThePlantedRow(t *testing.T) {
	in := clinic(1000, true)
	l := pipelinetest.Learner{Kind: anomalyForestKind(), Stage: anomalyForestKind().New}
	table, _ := l.Trained(t, in)
	d, frame := read(t, table, in)
	scores, err := d.Scores(frame)
	must(t, err)
	higher := 0
	for _, s := range scores {
		if s > scores[5] {
			higher++
		}
	}
	if higher >= 5 {
		t.Errorf("%d rows have a higher score", higher)
	}
}

// TestForeignForest: a forest from anyone is an error that says what is wrong.
func TestForeignForest(t *testing.T) {
	for want, change := range map[string]func(f *forest){
		"columns: is empty":     func(f *forest) { f.Columns = nil },
		"without bounds":        func(f *forest) { f.Columns[0].Bounds = nil },
		"0 trees":               func(f *forest) { f.Trees = nil },
		"of depth 40":           func(f *forest) { f.Depth = 40 },
		"are not whole":         func(f *forest) { f.Depth = 3 },
		"at 8, must be from 0":  func(f *forest) { f.Trees[0].Splits[1].At = 8 },
		"at -1, must be from 0": func(f *forest) { f.Trees[0].Splits[2].At = -1 },
	} {
		f := &forest{Columns: visitors(1).Header.Domain.Columns, Depth: 2,
			Trees: []tree{{Splits: []split{{0, 0.4}, {1, 0.5}, {0, 0.8}}, Counts: make([]int64, 4)}}}
		change(f)
		data, err := json.Marshal(f)
		must(t, err)
		if _, err := readForest(map[string][]byte{forestFile: data}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, must say %s", err, want)
		}
	}
	if _, err := readForest(nil); err == nil {
		t.Error("no forest is read")
	}
}
