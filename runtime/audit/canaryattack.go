package audit

import (
	"cmp"
	"context"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/domain"
	"weir/privacy/empirical"
)

// aim chooses how canaries are looked for: by what kinds say of their own releases, else in the tables that are
// released, else, of a single one, by all numbers in released files.
func (t *board) aim(g Game) error {
	steps := t.subject.plan.Steps
	canaries := pipeline.FromRecords(t.real.Header, t.rows)
	traced := slices.DeleteFunc(slices.Clone(steps), func(s compile.Step) bool { return s.Work.Traces == nil })
	switch {
	case len(traced) > 0:
		t.attack = "released counts of the cells of canaries"
		t.look = func(ctx context.Context, r *Rehearsal) ([]float64, error) {
			scores := make([]float64, t.rows.NumRows())
			for _, step := range traced {
				some, err := step.Work.Traces(ctx, tablesOf(r, step.ID), canaries, t.real)
				if err != nil {
					return nil, pipeline.AtStage(step.ID, err)
				}
				for i, x := range some {
					scores[i] += x
				}
			}
			return t.sided(scores), nil
		}
	case slices.ContainsFunc(steps, releasesTable):
		t.attack = "nearest released rows"
		t.look = func(ctx context.Context, r *Rehearsal) ([]float64, error) {
			scores, err := nearest(ctx, canaries, r, g.Compared)
			return t.sided(scores), err
		}
	case g.Canaries > 1:
		return unplayable("canaries: are %d, must be 1: no table is released in which several can be told apart", g.Canaries)
	default:
		t.attack, t.look = "numbers in released files", numbers
	}
	return nil
}

// releasesTable reports whether rows with columns that canaries may have leave a step.
func releasesTable(s compile.Step) bool {
	for _, h := range s.Work.Out {
		if h.Form == pipeline.FormTable && h.Class == pipeline.Released {
			return true
		}
	}
	return false
}

// numbers returns all numbers that stand in the text of released files, in their order.
func numbers(ctx context.Context, r *Rehearsal) (list []float64, err error) {
	digits := regexp.MustCompile(`-?\d+(\.\d+)?([eE][-+]?\d+)?`)
	for _, ref := range refs(r) {
		t := r.Released[ref]
		if !t.Form.IsFiles() {
			continue
		}
		files, err := pipeline.ReadFiles(ctx, t)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			for _, text := range digits.FindAll(f.Data, -1) {
				if x, err := strconv.ParseFloat(string(text), 64); err == nil {
					list = append(list, x)
				}
			}
		}
	}
	return list, nil
}

// refs lists released outputs in the order of their names.
func refs(r *Rehearsal) []pipeline.Ref {
	return slices.SortedFunc(maps.Keys(r.Released), func(a, b pipeline.Ref) int {
		return cmp.Compare(a.String(), b.String())
	})
}

// sided returns a score for each canary: of two rows, how much more speaks for the second.
func (t *board) sided(scores []float64) []float64 {
	if t.places == nil {
		return scores
	}
	n := len(t.places)
	for i := range n {
		scores[i] = scores[n+i] - scores[i]
	}
	return scores[:n]
}

// errNoColumns says that a canary lies nowhere in what is released.
func errNoColumns() error {
	return unplayable("stages: release no table with columns of the dataset, must release one in which canaries " +
		"can be looked for")
}

// mostNear is how many rows of a released table canaries are compared with.
const mostNear = 20_000

// nearest scores each canary by its distance from the nearest row of any released table, over the columns that both
// have: 1 for another category or a missing value, of numbers the distance in parts of the bounds. tell hears how many
// are done; it may be nil.
func nearest(ctx context.Context, canaries pipeline.Table, r *Rehearsal, tell func(done, of int)) ([]float64, error) {
	rows, err := canaries.Collect(ctx)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, rows.NumRows())
	for i := range scores {
		scores[i] = math.Inf(-1)
	}
	for _, ref := range refs(r) {
		t := r.Released[ref]
		if t.Form != pipeline.FormTable {
			continue
		}
		sample, err := t.Collect(ctx)
		if err != nil {
			return nil, err
		}
		if err := near(ctx, scores, axesOf(canaries.Domain, rows, t.Domain, sample), tell); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(scores, func(x float64) bool { return math.IsInf(x, -1) }) {
		return nil, errNoColumns()
	}
	return scores, nil
}

// axis is a column of canaries beside the same one of a released table.
type axis struct {
	canaries, made []float64 // NaN: missing, or a category that the other has not
	width          float64   // of the bounds; 0 of categories
}

// axesOf returns the columns that both tables have, as they are before any stage encodes them.
func axesOf(d *domain.Domain, rows arrow.Record, released *domain.Domain, sample arrow.Record) (list []axis) {
	for j := range d.Columns {
		c := &d.Columns[j]
		place := released.Index(c.Name)
		if place < 0 || c.Type == domain.Text || released.Columns[place].Encoding != nil ||
			released.Columns[place].Type.Coded() != c.Type.Coded() {
			continue
		}
		a := axis{canaries: numbersOf(rows.Column(j), nil), made: numbersOf(sample.Column(place), nil)}
		switch {
		case c.Type.Coded():
			a.made = numbersOf(sample.Column(place), placesIn(released.Columns[place].Categories, c.Categories))
		case c.Bounds != nil && c.Bounds[1] > c.Bounds[0]:
			a.width = c.Bounds[1] - c.Bounds[0]
		default:
			continue
		}
		list = append(list, a)
	}
	return list
}

// numbersOf returns values as numbers, NaN where one is missing, codes by a table where there is one.
func numbersOf(a arrow.Array, codes []float64) []float64 {
	list := make([]float64, a.Len())
	for i := range list {
		x, known := numberAt(a, i)
		switch {
		case !known:
			list[i] = math.NaN()
		case codes != nil && int(x) < len(codes):
			list[i] = codes[int(x)]
		default:
			list[i] = x
		}
	}
	return list
}

// placesIn returns the place of each name in a list, NaN of one that it has not; nil where neither has names.
func placesIn(names, list []string) []float64 {
	if len(list) == 0 {
		return nil
	}
	places := make([]float64, len(names))
	for i, name := range names {
		places[i] = math.NaN()
		if k := slices.Index(list, name); k >= 0 {
			places[i] = float64(k)
		}
	}
	return places
}

// toldApart is after how many canaries it is told that they were compared: minutes, where there are many.
const toldApart = 10_000

// near raises the score of each canary to the negative distance from the nearest made row.
func near(ctx context.Context, scores []float64, axes []axis, tell func(done, of int)) error {
	if len(axes) == 0 {
		return nil
	}
	rows := min(len(axes[0].made), mostNear)
	for i := range scores {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if tell != nil && i > 0 && i%toldApart == 0 {
			tell(i, len(scores))
		}
		for k := range rows {
			far := 0.0
			for _, a := range axes {
				far += a.distance(i, k)
			}
			scores[i] = max(scores[i], -far)
		}
	}
	return nil
}

// distance returns the distance of a canary and a made row along one column, from 0 to 1.
func (a axis) distance(i, k int) float64 {
	x, y := a.canaries[i], a.made[k]
	switch {
	case x == y:
		return 0
	case a.width == 0 || math.IsNaN(x) || math.IsNaN(y):
		return 1
	}
	return min(1, math.Abs(x-y)/a.width)
}

// guessed names the coins of the canaries at both ends of the scores: the highest were there. Equal scores stand in the
// order of the canaries, which knows no coin.
func guessed(coins []bool, scores []float64, number int) empirical.Guesses {
	order := make([]int, len(coins))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	out := empirical.Guesses{Canaries: len(coins), Made: number}
	for i := range number / 2 {
		if coins[order[i]] {
			out.Correct++
		}
		if !coins[order[len(order)-1-i]] {
			out.Correct++
		}
	}
	return out
}

// linearTest says by a weighted sum of numbers whether a canary is there.
type linearTest struct {
	weights []float64
	middle  float64
}

// learned returns a test that asks on which side of the middle a run lies along the difference of the means of pilot
// runs, each number in units of its variance. Numbers that a pilot run lacks are left out.
func learned(there []bool, seen [][]float64) linearTest {
	size := math.MaxInt
	for _, signs := range seen {
		size = min(size, len(signs))
	}
	t := linearTest{weights: make([]float64, size)}
	for k := range t.weights {
		means, spread := sidesOf(there, seen, k)
		if spread > 0 {
			t.weights[k] = (means[1] - means[0]) / spread
		}
		t.middle += float64(t.weights[k] * (means[0] + means[1]) / 2)
	}
	return t
}

// sidesOf returns the means of a number in runs without and with the canary, and the sum of squares around them.
func sidesOf(there []bool, seen [][]float64, k int) (means [2]float64, spread float64) {
	var runs [2]float64
	for i, signs := range seen {
		side := sideOf(there[i])
		means[side], runs[side] = means[side]+signs[k], runs[side]+1
	}
	for side := range means {
		means[side] /= max(runs[side], 1)
	}
	for i, signs := range seen {
		d := signs[k] - means[sideOf(there[i])]
		spread += float64(d * d)
	}
	return means, spread
}

// finds reports whether the test says that the canary is there. A run may lack numbers at its end.
func (t linearTest) finds(signs []float64) bool {
	sum := 0.0
	for k := range min(len(t.weights), len(signs)) {
		sum += float64(t.weights[k] * signs[k])
	}
	return sum > t.middle
}

func sideOf(there bool) int {
	if there {
		return 1
	}
	return 0
}

func count(r *empirical.Rates, there, found bool) {
	hit := sideOf(found)
	if there {
		r.With, r.Found = r.With+1, r.Found+hit
	} else {
		r.Without, r.Alarms = r.Without+1, r.Alarms+hit
	}
}

// tablesOf returns the released outputs of a stage by port.
func tablesOf(r *Rehearsal, stage string) pipeline.Tables {
	list := pipeline.Tables{}
	for ref, t := range r.Released {
		if ref.Stage == stage {
			list[ref.Port] = t
		}
	}
	return list
}
