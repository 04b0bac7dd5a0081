package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"weir/internal/bitmath"
	"weir/pipeline/figure"
)

// Figures are those of a run against real rows, by STAGE.NAME or STAGE.NAME.COLUMN.
type Figures struct {
	Cell     string               // what its repeats have in common
	Values   map[string]float64   // of the run
	Repeats  []map[string]float64 // of all runs of the cell that are known, this one among them
	Declared figure.ByStage       // by the kinds of its stages
}

// Figure is how one figure moved.
type Figure struct {
	Name    string      `json:"name"`
	Before  *float64    `json:"before"`
	After   *float64    `json:"after"`
	BeforeI *[2]float64 `json:"before_interval,omitempty"`
	AfterI  *[2]float64 `json:"after_interval,omitempty"`
	Verdict string      `json:"verdict"`
	Spread  string      `json:"spread,omitempty"` // what the verdict rests on
}

// Verdicts of a figure.
const (
	Unchanged = "equal"
	Within    = "within its spread"
	Beyond    = "beyond its spread"
	NoSpread  = "no spread known"
	OneSide   = "in one run alone"
)

// figures compares two runs figure by figure. The ends of intervals are no figures of
// their own.
func figures(a, b Figures) (all []Figure) {
	union := maps.Clone(a.Values)
	maps.Copy(union, b.Values)
	for _, name := range slices.Sorted(maps.Keys(union)) {
		if a.Declared.IsEnd(union, name) || b.Declared.IsEnd(union, name) {
			continue
		}
		f := Figure{Name: name, Before: valueOf(a.Values, name), After: valueOf(b.Values, name), BeforeI: interval(a,
			name), AfterI: interval(b, name)}
		f.judge(a, b)
		all = append(all, f)
	}
	return all
}

func valueOf(values map[string]float64, name string) *float64 {
	if v, there := values[name]; there {
		return &v
	}
	return nil
}

func interval(f Figures, name string) *[2]float64 {
	ends, has := f.Declared.Interval(f.Values, name)
	if !has {
		return nil
	}
	return &ends
}

// judge says whether the figure moved beyond its spread: by its intervals where it has
// them, else by the repeats of its runs.
func (f *Figure) judge(a, b Figures) {
	switch {
	case f.Before == nil || f.After == nil:
		f.Verdict = OneSide
	case *f.Before == *f.After:
		f.Verdict = Unchanged
	case f.BeforeI != nil || f.AfterI != nil:
		f.byIntervals()
	default:
		f.byRepeats(a, b)
	}
}

// byIntervals calls a move beyond where the intervals do not meet, which is stricter than
// a test of the difference; a run without an interval counts by its figure.
func (f *Figure) byIntervals() {
	x, y := [2]float64{*f.Before, *f.Before}, [2]float64{*f.After, *f.After}
	if f.BeforeI != nil {
		x = *f.BeforeI
	}
	if f.AfterI != nil {
		y = *f.AfterI
	}
	f.Verdict, f.Spread = Within, "intervals meet"
	if x[1] < y[0] || y[1] < x[0] {
		f.Verdict, f.Spread = Beyond, "intervals apart"
	}
}

// byRepeats calls a move beyond where it is larger than 95 % of the moves between two
// runs that differ by their noise alone: |after - before| against Student's t quantile
// times the root of the two variances, with the degrees of freedom of Welch (1947). A
// run whose cell has no second repeat is taken to vary as the other does. Repeats that are
// all equal, as of a learner that is constant, do not say how far the noise moves a figure.
func (f *Figure) byRepeats(a, b Figures) {
	x, y := valuesOf(a.Repeats, f.Name), valuesOf(b.Repeats, f.Name)
	if a.Cell == b.Cell || len(y) < 2 {
		y = nil
	} else if len(x) < 2 {
		x, y = y, nil
	}
	if len(x) < 2 {
		f.Verdict = NoSpread
		return
	}
	vx, n := variance(x), float64(len(x)-1)
	vy, dof := vx, n
	f.Spread = fmt.Sprintf("%d repeats", len(x))
	if y != nil {
		m := float64(len(y) - 1)
		vy = variance(y)
		dof = (vx + vy) * (vx + vy) / (vx*vx/n + vy*vy/m)
		f.Spread = fmt.Sprintf("%d and %d repeats", len(x), len(y))
	}
	switch {
	case alike(x) && alike(y): // not by variances, which round
		f.Verdict, f.Spread = NoSpread, f.Spread+", each alike"
	case math.Abs(*f.After-*f.Before) <= bitmath.StudentQuantile(dof, 0.975)*math.Sqrt(vx+vy):
		f.Verdict = Within
	default:
		f.Verdict = Beyond
	}
}

func alike(values []float64) bool {
	return len(values) == 0 || slices.Min(values) == slices.Max(values)
}

func valuesOf(repeats []map[string]float64, name string) (list []float64) {
	for _, r := range repeats {
		if v, there := r[name]; there {
			list = append(list, v)
		}
	}
	return list
}

// variance of a sample, in two passes; NaN of fewer than two values.
func variance(values []float64) float64 {
	mean, sum, n := 0.0, 0.0, float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		sum += float64((v - mean) * (v - mean))
	}
	return sum / (n - 1)
}
