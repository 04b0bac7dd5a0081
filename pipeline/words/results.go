package words

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/schema"
)

// Figures are the figures of a run against real rows, by STAGE.NAME or STAGE.NAME.COLUMN.
type Figures struct {
	Cell     string                // what its repeats have in common
	Values   map[string]float64    // of the run
	Repeats  []map[string]float64  // of all runs of the cell that are known, this one among them
	Declared pipeline.StageFigures // by the kinds of its stages
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

// figures compares two runs figure by figure. The ends of intervals are not figures of
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

// variance returns the variance of a sample, in two passes; NaN of fewer than two values.
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

// Charges are the lines of a ledger and what they add up to.
type Charges struct {
	Dataset string
	Lines   []Charge
	Total   LedgerTotal
}

// LedgerTotal is what the charges add up to, as weir ledger show says it.
type LedgerTotal struct {
	Epsilon    *float64 `json:"epsilon"` // nil: no finite bound
	Delta      float64  `json:"delta"`
	Adjacency  string   `json:"adjacency"`
	Unit       string   `json:"unit"`
	Accountant string   `json:"accountant"`
	Charges    int      `json:"charges"`
	Left       *float64 `json:"left,omitempty"` // of the dataset's budget, by its filter
}

// Charge is one line. Its identity stays when a merge moves it; its hash does not.
type Charge struct {
	Identity string `json:"-"`
	Hash     string `json:"hash"`
	Line     int    `json:"line"`
	Time     string `json:"time"`
	Run      string `json:"run"`
	Stage    string `json:"stage"`
	Name     string `json:"name,omitempty"`
	Event    string `json:"event"`
}

// LedgerMoves is how two ledgers differ.
type LedgerMoves struct {
	Relation string      `json:"relation"`
	Common   int         `json:"common_lines"` // from the first on, the same chain
	Both     int         `json:"charges_in_both"`
	OnlyA    []Charge    `json:"only_a"`
	OnlyB    []Charge    `json:"only_b"`
	A        LedgerTotal `json:"a"`
	B        LedgerTotal `json:"b"`
}

const same = "the same chain"

func ledgers(a, b Charges) LedgerMoves {
	m := LedgerMoves{OnlyA: lacking(a.Lines, b.Lines), OnlyB: lacking(b.Lines, a.Lines), A: a.Total, B: b.Total}
	for m.Common < min(len(a.Lines), len(b.Lines)) && a.Lines[m.Common].Hash == b.Lines[m.Common].Hash {
		m.Common++
	}
	m.Both = len(a.Lines) - len(m.OnlyA)
	m.Relation = relation(a, b, m)
	return m
}

// relation words how the chains lie. A fork is not a fault: it is what two branches of a
// repository make, and merging loses no charge.
func relation(a, b Charges, m LedgerMoves) string {
	switch n := m.Common; {
	case a.Dataset != b.Dataset && len(a.Lines) > 0 && len(b.Lines) > 0:
		return fmt.Sprintf("of two datasets, %s and %s", a.Dataset, b.Dataset)
	case n == len(a.Lines) && n == len(b.Lines):
		return same
	case n == len(a.Lines):
		return fmt.Sprintf("B goes on after line %d, the last of A", n)
	case n == len(b.Lines):
		return fmt.Sprintf("A goes on after line %d, the last of B: B lacks charges", n)
	case len(m.OnlyA) == 0:
		return fmt.Sprintf("B holds every charge of A, moved by a merge after line %d", n)
	case len(m.OnlyB) == 0:
		return fmt.Sprintf("A holds every charge of B, moved by a merge after line %d", n)
	default:
		return fmt.Sprintf("forked after line %d: each holds charges that the other lacks; weir ledger merge A B joins them",
			n)
	}
}

func lacking(lines, other []Charge) []Charge {
	known, out := map[string]bool{}, []Charge{}
	for _, c := range other {
		known[c.Identity] = true
	}
	for _, c := range lines {
		if !known[c.Identity] {
			out = append(out, c)
		}
	}
	return out
}

// Setting is what one of several specs says at a path at which they differ; the value is in words, "-" where the spec
// does not have it.
type Setting struct {
	Path  string `json:"path"`
	Value string `json:"value"`
}

// Varying returns what each of several specs in their canonical form says where they differ, path by path in the order
// of the specs. A stage that only some have is one setting, with its kind as the value. Which experiment made a run is
// no setting of the run. A spec that cannot be read has none.
func Varying(canonical [][]byte) [][]Setting {
	var trees []any
	out, list := make([][]Setting, len(canonical)), []int{}
	for i, text := range canonical {
		if tree, err := readYAML("", text); err == nil {
			trees, list = append(trees, tree), append(list, i)
		}
	}
	vary(nil, trees, func(path string, words []string) {
		if path == "experiment" || strings.HasPrefix(path, "experiment.") {
			return
		}
		for k, i := range list {
			out[i] = append(out[i], Setting{path, words[k]})
		}
	})
	return out
}

// vary tells each path at which trees differ, with what each has there; nil is what one does not have.
func vary(path []any, trees []any, tell func(path string, words []string)) {
	if mappings, all := allMappings(trees); all {
		for _, key := range unionOfKeys(mappings) {
			inner := make([]any, len(trees))
			for i, m := range mappings {
				inner[i] = m.values[key]
			}
			vary(childPath(path, key), inner, tell)
		}
		return
	}
	same := func(t any) bool { return len(differences(nil, trees[0], t)) == 0 }
	if len(trees) == 0 || !slices.ContainsFunc(trees, func(t any) bool { return !same(t) }) {
		return
	}
	words := make([]string, len(trees))
	for i, t := range trees {
		words[i] = brief(t)
	}
	tell(strings.TrimPrefix(schema.Path(path...), "stages."), words)
}

// brief returns a value in a list of runs: a stage is its kind.
func brief(tree any) string {
	m, ok := tree.(*mapping)
	switch kind, ofStage := "", false; {
	case tree == nil:
		return "-"
	case ok:
		if kind, ofStage = m.values["kind"].(string); ofStage {
			return kind
		}
	}
	return word(tree)
}

// allMappings returns trees as mappings, lists of named mappings by their names; all is whether each is one.
func allMappings(trees []any) (list []*mapping, all bool) {
	for _, t := range trees {
		m, ok := t.(*mapping)
		if items, listed := t.([]any); listed {
			m, ok = mappingByName(items)
		}
		if !ok {
			return nil, false
		}
		list = append(list, m)
	}
	return list, len(list) > 0
}

func unionOfKeys(list []*mapping) (keys []string) {
	seen := map[string]bool{}
	for _, m := range list {
		for _, k := range m.keys {
			if !seen[k] {
				seen[k] = true
				keys = append(keys, k)
			}
		}
	}
	return keys
}
