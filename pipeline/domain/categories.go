package domain

import (
	"math"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"weir/schema"
)

// Categories are the values of a column, in order, spelled as a file writes them. In YAML
// they may also be the word private: the list is not public knowledge, and the column is an
// open set of values (type text) until a stage of kind dp_categories releases a list. That
// is an empty list here; nil says nothing.
type Categories []string

// privateCategories is how a domain spells a list that is not public.
const privateCategories = "private"

// UnmarshalYAML reads a list of values or the word.
func (c *Categories) UnmarshalYAML(n *yaml.Node) error {
	switch {
	case n.Kind == yaml.ScalarNode && n.Value == privateCategories:
		*c = Categories{}
		return nil
	case n.Kind == yaml.SequenceNode && len(n.Content) == 0:
		return schema.NodeProblem(n, "at least one value, or the word private")
	case n.Kind != yaml.SequenceNode:
		return schema.NodeProblem(n, "a list of values, or the word private")
	}
	return (*Spellings)(c).UnmarshalYAML(n)
}

// MarshalYAML writes what UnmarshalYAML reads.
func (c Categories) MarshalYAML() (any, error) {
	if c.private() {
		return privateCategories, nil
	}
	return []string(c), nil
}

// IsZero tells whether there is nothing to write.
func (c Categories) IsZero() bool { return c == nil }

func (c Categories) private() bool { return c != nil && len(c) == 0 }

// JSONSchema returns the schema: a list of texts, numbers and truth values, or the word private.
func (Categories) JSONSchema() map[string]any {
	list := Spellings{}.JSONSchema()
	return map[string]any{"title": "a list of values, or the word private",
		"anyOf": []any{list, map[string]any{"const": privateCategories}}}
}

// Private tells whether the column's categories are a list that a stage has yet to release.
func (c *Column) Private() bool { return c.Type == Text && c.Categories.private() }

// PrivateCategories lists the columns whose categories are private.
func (d *Domain) PrivateCategories() (names []string) {
	for i := range d.Columns {
		if d.Columns[i].Private() {
			names = append(names, d.Columns[i].Name)
		}
	}
	return names
}

// ReleaseOf returns the line of a spec that has the categories of some columns released, to be
// added before the stage that needs them.
func ReleaseOf(columns []string) string {
	list := slices.Clone(columns)
	for i, name := range list {
		if !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{2,}$`).MatchString(name) ||
			slices.Contains([]string{"null", "true", "false", "yes", "off"}, strings.ToLower(name)) {
			list[i] = strconv.Quote(name)
		}
	}
	return "categories: {kind: dp_categories, columns: [" + strings.Join(list, ", ") + "]}"
}

// Range is the values from Lo to Hi, both included.
type Range struct{ Lo, Hi float64 }

// Values is a set of values of one column: ranges, ascending and apart, and perhaps
// missing.
type Values struct {
	Ranges  []Range
	Missing bool
}

// Has tells whether v is one of the values; NaN is missing.
func (s Values) Has(v float64) bool {
	if math.IsNaN(v) {
		return s.Missing
	}
	at := sort.Search(len(s.Ranges), func(i int) bool { return s.Ranges[i].Hi >= v })
	return at < len(s.Ranges) && s.Ranges[at].Lo <= v
}

// AllValues returns every value that a column can hold.
func AllValues(c *Column) Values {
	s := Values{Ranges: []Range{{-math.MaxFloat64, math.MaxFloat64}}, Missing: c.Nullable}
	switch {
	case c.Type.Coded():
		s.Ranges[0] = Range{0, float64(len(c.Categories) - 1)}
	case c.Bounds != nil:
		s.Ranges[0] = Range{c.Bounds[0], c.Bounds[1]}
	}
	return s
}

// grid is where the numbers of a column lie: multiples of step from origin, or anywhere
// where step is 0.
type grid struct{ step, origin float64 }

func gridOf(c *Column) grid {
	g := grid{step: c.Step}
	if c.Bounds != nil {
		g.origin = c.Bounds[0]
	}
	if c.Type != Numeric {
		g.origin = math.Ceil(g.origin)
		if g.step = math.Trunc(c.Step); g.step < 1 {
			g.step = 1
		}
	}
	return g
}

// ceil returns the least value of the grid that is at least x.
func (g grid) ceil(x float64) float64 {
	if g.step == 0 || math.Abs(x) > 1e300 {
		return x
	}
	const slack = 1e-9 // of a step: what decimals such as 0.1 lose
	n := math.Ceil((x-g.origin)/g.step - slack)
	if per := math.Round(1 / g.step); per > 0 && math.Abs(float64(per*g.step)-1) < 1e-9 {
		return math.Round(float64(g.origin*per)+n) / per // the nearest decimal, where origin is a multiple
	}
	return g.origin + float64(n*g.step)
}

// after returns the least value of the grid above x.
func (g grid) after(x float64) float64 {
	if g.step == 0 || math.Abs(x) > 1e300 {
		return math.Nextafter(x, math.Inf(1))
	}
	return g.ceil(x + float64(g.step/2))
}

// Forbidden says which combinations of bins hold no row that keeps a rule: bins[i] are
// sets of values of column r.Columns[i], and combinations are in row-major order, the
// last column fastest. A combination with any row that keeps the rule is not forbidden.
// Where columns in order have different steps, that is judged by the values of the
// coarser one.
func Forbidden(d *Domain, r *Rule, bins [][]Values) []bool {
	tries := triesOf(d, r, bins)
	cells := 1
	for _, list := range bins {
		cells *= len(list)
	}
	forbidden, places := make([]bool, cells), make([]int, len(bins))
	values := make([]float64, len(bins))
	for cell := range forbidden {
		rest := cell
		for i := len(bins) - 1; i >= 0; i-- {
			places[i], rest = rest%len(bins[i]), rest/len(bins[i])
		}
		forbidden[cell] = !anyKeeps(r, tries, places, values, 0)
	}
	return forbidden
}

// triesOf returns by column and bin the points of the bin that stand for all its values.
func triesOf(d *Domain, r *Rule, bins [][]Values) [][][]float64 {
	lists := map[int][]float64{}
	for i, column := range r.Columns {
		sets := r.form.sets(i)
		lists[column] = points(&d.Columns[column], append(sets[:len(sets):len(sets)], bins[i]...))
	}
	shareOrdered(d, []*Rule{r}, lists)
	tries := make([][][]float64, len(bins))
	for i, column := range r.Columns {
		tries[i] = make([][]float64, len(bins[i]))
		for _, v := range lists[column] {
			for b := range bins[i] {
				if bins[i][b].Has(v) {
					tries[i][b] = append(tries[i][b], v)
				}
			}
		}
	}
	return tries
}

func anyKeeps(r *Rule, tries [][][]float64, places []int, values []float64, column int) bool {
	if column == len(places) {
		return r.Keeps(values)
	}
	for _, v := range tries[column][places[column]] {
		values[column] = v
		if anyKeeps(r, tries, places, values, column+1) {
			return true
		}
	}
	return false
}
