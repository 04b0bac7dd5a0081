package graphical

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/train/graphical"
	"weir/train/histogram"
)

// Measured says of each marginal that a released model carries how much of it noise
// drowns.
type Measured struct {
	Listed int `yaml:"listed" json:"listed" min:"0" max:"100000" doc:"Most marginals with a figure of their own: those of which noise drowns most." unit:"marginals"`
}

// Names of the kind and of its figure.
const (
	measuredName = "measured"
	belowNoise   = "below_noise"
)

func measuredKind() pipeline.Kind {
	return pipeline.Kind{
		Name: measuredName, Version: 2,
		Doc: "Says how much of each marginal of a model its noise drowns. Says of each marginal that a released model of " +
			"marginals was fitted to which share of its cells has a count " +
			"below the standard deviation of its noise, for the report. " +
			"Use it to see what the budget has bought. Computed from the release alone: costs nothing.",
		In: []pipeline.Port{{Name: "in", Form: pipeline.FormModel, Doc: "A released model of marginals."}},
		Out: []pipeline.Port{{Name: "metrics", Form: pipeline.FormMetrics,
			Doc: "below_noise, over all cells and by marginal."}},
		Figures: pipeline.Figures{{Name: belowNoise, Parts: "marginal", Better: pipeline.BetterLow,
			Doc: "share of measured cells with a count below the standard deviation of their noise, 0 is best"}},
		New: func() pipeline.Stage { return &Measured{Listed: 200} },
	}
}

// Plan implements pipeline.Stage.
func (s *Measured) Plan(in pipeline.Headers) (pipeline.Work, error) {
	model := in["in"]
	var ps schema.Problems
	needMeasured(model.Domain, &ps)
	out := pipeline.Header{Form: pipeline.FormMetrics, Schema: pipeline.MetricsSchema(), Class: model.Class,
		Stability: pipeline.Unbounded(), Terms: model.Terms}
	return pipeline.Work{Out: pipeline.Headers{"metrics": out},
		Run: func(ctx context.Context, _ *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			m, err := ours(ctx, in["in"])
			if err != nil {
				return nil, err
			}
			return pipeline.Tables{"metrics": pipeline.WriteMetrics(out, m.belowNoise(s.Listed))}, nil
		}}, ps.Err()
}

// needMeasured adds a problem for a model of another family.
func needMeasured(d *domain.Domain, ps *schema.Problems) {
	if d == nil {
		return
	}
	for _, c := range d.Columns {
		if c.Encoding != nil {
			ps.Add("from", "a model that learned encoded columns ("+c.Name+")",
				"a model of marginals, which carries what was measured")
			return
		}
	}
}

// belowNoise returns the share of cells whose noise exceeds their count: over all, and of
// each set of columns, measurements of one set together.
func (m *released) belowNoise(listed int) []pipeline.Metric {
	var names []string
	cells, lower, sigma := map[string]int{}, map[string]int{}, map[string]float64{}
	all := 0
	for _, x := range m.Measured {
		name := strings.Join(m.columnsOf(x.Columns), ", ")
		if _, known := cells[name]; !known {
			names = append(names, name)
		}
		cells[name], sigma[name] = cells[name]+len(x.Y), x.Sigma
		for _, y := range x.Y {
			if x.Sigma > y {
				lower[name]++
				all++
			}
		}
	}
	whole := 0
	for _, name := range names {
		whole += cells[name]
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return descending(float64(lower[a])/float64(cells[a]), float64(lower[b])/float64(cells[b]))
	})
	list := []pipeline.Metric{share("", all, whole, "over all measured marginals")}
	for _, name := range names[:min(len(names), listed)] {
		list = append(list, share(name, lower[name], cells[name], fmt.Sprintf("noise has a standard deviation of %.4g rows",
			sigma[name])))
	}
	return list
}

func share(name string, below, cells int, note string) pipeline.Metric {
	return pipeline.Metric{Name: belowNoise, Column: name, Value: float64(below) / float64(max(cells, 1)),
		Note: fmt.Sprintf("%d of %d cells; %s", below, cells, note)}
}

// pairBounds are the distances of pairs of columns from independence that a stage paid for to choose by, and what they
// say of the model that was fitted in the end.
//
// Input: the noisy half-L1 distances u of step 4 (docs/marginals.md section 1), in rows, the counts by code that they
// are from, and the fitted model. Guarantee: all of it is in the transcript that is paid for (front.distances), or
// follows from it: nothing more is charged. What it says, by the triangle: with x the pair's histogram of n rows, T
// its table of independent columns, rounded to integers, q the model's table, N the rows that the model has, and m =
// |Nq - T|/2, |u - m| - noise <= |x - Nq|/2 <= u + m + noise.
type pairBounds struct {
	Ones  [][]float64 `json:"ones"`            // counts by code of each column, of which T is made
	Pairs [][2]int    `json:"pairs"`           // columns
	Y     []float64   `json:"y"`               // noisy distances, in rows
	Sigma float64     `json:"sigma"`           // standard deviation of their noise
	Rows  float64     `json:"rows,omitempty"`  // standard deviation of N; 0: public
	Model []float64   `json:"model,omitempty"` // m; -1: not known
}

// familyError is the probability by which one of all bounds of a release may fail.
const familyError = .05

// z returns the quantile by which all bounds hold together (Bonferroni): of each pair, and of the rows where these are
// private.
func (s *pairBounds) z() float64 {
	bounds := len(s.Pairs)
	if s.Rows > 0 {
		bounds++
	}
	return bitmath.NormalQuantile(1 - familyError/float64(2*bounds))
}

// reach returns what noise adds to each side of a pair's bounds, in rows. The doubled distance had a normal number
// added, which was rounded and so is at most a half further away than it; with private rows N = n + e, and |x/N - x/n|
// sums to |e|/N.
func (s *pairBounds) reach() float64 {
	doubled := math.Sqrt(max(float64(4*s.Sigma*s.Sigma)-1./12, 0))
	return float64((float64(s.z()*doubled)+.5)/2) + float64(float64(s.z()*s.Rows)/2)
}

// bounds hold the total variation of pair i between the counted table and the model; known is false where the model's
// table was not to be had.
func (s *pairBounds) bounds(i int, rows float64) (low, high float64, known bool) {
	if i >= len(s.Model) || s.Model[i] < 0 {
		return 0, 1, false
	}
	u, m, reach := s.Y[i], s.Model[i], s.reach()
	return max(0, math.Abs(u-m)-reach) / rows, min(1, max(0, u+m+reach)/rows), true
}

// measureModel finds how far the model's pairs are from the independent tables.
func (s *pairBounds) measureModel(m *graphical.Model) {
	s.Model = make([]float64, len(s.Pairs))
	place := map[[2]int]int{}
	for i, pair := range s.Pairs {
		s.Model[i], place[pair] = -1, i // a table that is too large is not to be had
	}
	m.EachPair(func(a, b int, table []float64) {
		if i, asked := place[[2]int{a, b}]; asked {
			s.Model[i] = summedDistance(table, s.Ones[a], s.Ones[b])
		}
	})
}

// summedDistance returns half the L1 distance of a table from the independent one that distance compares counts with.
func summedDistance(table, a, b []float64) (sum float64) {
	n := total(a)
	for i, x := range a {
		for j, y := range b {
			d := table[i*len(b)+j]
			if n > 0 {
				d -= math.Round(x * y / n)
			}
			sum += float64(math.Abs(d) / 2)
		}
	}
	return sum
}

// check judges what came with a model.
func (s *pairBounds) check(sizes []int) error {
	if len(s.Ones) != len(sizes) || len(s.Y) != len(s.Pairs) || len(s.Pairs) == 0 || len(s.Model) != len(s.Pairs) {
		return fmt.Errorf("has %d columns, %d pairs, %d distances and %d of the model, must have %d columns and one of each "+
			"a pair", len(s.Ones), len(s.Pairs), len(s.Y), len(s.Model), len(sizes))
	}
	for j, ones := range s.Ones {
		if len(ones) != sizes[j] || slices.ContainsFunc(ones, func(x float64) bool { return !(x >= 0 && x < mostRows) }) {
			return fmt.Errorf("ones[%d]: has %d counts, must have one a code, %d, from 0 to %g", j, len(ones), sizes[j],
				mostRows)
		}
	}
	for i, p := range s.Pairs {
		if p[0] < 0 || p[1] <= p[0] || p[1] >= len(sizes) || !(math.Abs(s.Y[i]) < mostRows) ||
			!(s.Model[i] >= -1 && s.Model[i] < mostRows) {
			return fmt.Errorf("pairs[%d]: is %v at %g and %g, must be two columns, ascending, at distances below %g", i, p,
				s.Y[i],
				s.Model[i], mostRows)
		}
	}
	if !(s.Sigma > 0 && s.Sigma < 1e15) || !(s.Rows >= 0 && s.Rows < 1e15) {
		return fmt.Errorf("sigma: is %g, and of the rows %g, must be above 0, and at least 0", s.Sigma, s.Rows)
	}
	return nil
}

// pairsList returns the bounds of every scored pair as a CSV table, the greatest upper bound first.
func (m *released) pairsList() []byte {
	s, rows := m.Scored, m.Model.Total
	order := make([]int, len(s.Pairs))
	high := make([]float64, len(s.Pairs))
	for i := range order {
		order[i] = i
		_, high[i], _ = s.bounds(i, rows)
	}
	slices.SortStableFunc(order, func(a, b int) int { return descending(high[a], high[b]) })
	sheet := newSheet([]string{"first", "second", "measured", "distance_from_independence", "sd", "low", "high"})
	for _, i := range order {
		names := m.columnsOf(s.Pairs[i][:])
		low, high, known := s.bounds(i, rows)
		row := append(names, yes(m.measuresPair(s.Pairs[i])), text(s.Y[i]/rows), text(s.Sigma/rows), "not known", "not known")
		if known {
			row[5], row[6] = text(low), text(high)
		}
		sheet.row(row)
	}
	return sheet.bytes()
}

// measuresPair tells whether a measured marginal holds a pair.
func (m *released) measuresPair(pair [2]int) bool {
	return slices.ContainsFunc(m.Measured, func(x measured) bool {
		return slices.Contains(x.Columns, pair[0]) && slices.Contains(x.Columns, pair[1])
	})
}

// wideBounds is how many times as wide as the values that are told from noise bounds are that a remark names.
const wideBounds = 4

// mostWide is how many columns a remark names.
const mostWide = 3

// remarked says which columns have bounds far wider than the rows bear at this budget. It reads the released model
// alone (noisy counts, public bounds), so that it is post-processing of what was paid for.
func remarked(ctx context.Context, out pipeline.Tables) (string, error) {
	m, err := unfitted(ctx, out["model"])
	if err != nil {
		return "", err
	}
	var list []string
	for j, c := range m.core.Columns {
		if reach, wide := m.Columns[j].reach(m.grids[j]); wide {
			where := shortened(m.labels(j).label(reach))
			if strings.HasPrefix(where, "[") {
				where = "within " + where
			} else {
				where = "at " + where + " alone"
			}
			list = append(list, fmt.Sprintf("%s (declared %s to %s, rows stand out from noise %s)", c.Name,
				c.Show(c.Bounds[0]), c.Show(c.Bounds[1]), where))
		}
	}
	if len(list) == 0 {
		return "", nil
	}
	more := ""
	if len(list) > mostWide {
		more = fmt.Sprintf(" and %d more", len(list)-mostWide)
	}
	named := strings.Join(list[:min(mostWide, len(list))], ", ") + more
	return "bounds are far wider than the rows can bear at this budget: " + named +
		". Noise hides which rows lie beyond; " +
		"narrower bounds, from public knowledge, make means and deviations better", nil
}

// shortened writes the ends of cells of a line with four digits, which are enough for a reader.
func shortened(label string) string {
	return regexp.MustCompile(`\d+\.\d{4,}`).ReplaceAllStringFunc(label, func(digits string) string {
		x, _ := strconv.ParseFloat(digits, 64) // what the pattern takes is a number
		return strconv.FormatFloat(x, 'g', 4, 64)
	})
}

// reach returns the cells of a number from the first to the last leaf whose count stands on its own noise (a settled
// tail has no variance), and whether its bounds are much wider.
func (c *coded) reach(g columns.Grid) (reach group, wide bool) {
	single := func(l histogram.Leaf) bool { return l.Var > 0 && l.Count >= rare*math.Sqrt(l.Var) }
	first := slices.IndexFunc(c.Leaves, single)
	if g.Coded() || first < 0 {
		return reach, false
	}
	last := first
	for i, l := range c.Leaves {
		if single(l) {
			last = i
		}
	}
	reach = group{lo: c.Leaves[first].Lo, hi: c.Leaves[last].Hi}
	return reach, g.Values() > fewCells && wideBounds*(reach.hi-reach.lo) <= g.Values()
}
