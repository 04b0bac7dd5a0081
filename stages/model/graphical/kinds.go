// Package graphical holds the kinds that measure noisy marginals of a private table
// and fit a graphical model to them. A front end that they share releases every column
// and makes it a few codes (front.go); what a kind adds is which marginals it measures.
// All leave one form of model, which draws rows (release.go, draw.go).
package graphical

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
	"weir/train/graphical"
)

// Kinds lists the kinds of this family: those that learn from a table, and those that
// read what was released.
func Kinds() []pipeline.Kind {
	return append(learning(), autoKind(), marginalsFromKind(), scoreKind(), intervalsKind(), measuredKind())
}

// learning lists the kinds that measure a private table.
func learning() []pipeline.Kind {
	return []pipeline.Kind{marginalTreeKind(), independentKind(), mstKind(), aimKind(), privBayesKind()}
}

// readers read what they release, as a model and as what rows are scored by.
func readers() []pipeline.Reader {
	return []pipeline.Reader{artifact.Decoder{Format: format, Decode: decode}, artifact.ScorerDecoder{Format: format,
		Decode: decodeScorer}}
}

// ours reads models of this family.
func ours(ctx context.Context, t pipeline.Table) (*released, error) {
	m, err := artifact.Read[artifact.Model](ctx, t, pipeline.ReadersOf(Kinds()))
	if err != nil {
		return nil, err
	}
	return m.(*released), nil
}

// Columns says how numbers become codes: the settings of every kind that measures.
type Columns struct {
	Bins  int                  `yaml:"bins,omitempty" json:"bins,omitempty" min:"2" max:"256" doc:"Bins that the measured marginals have of a number; from rows, noise and how many numbers there are (q) by default: max(2.2 q^(-1/3), 1.4) (n mu)^(1/4), from 8 to 32. Values inside a bin follow the measured histogram of single values."`
	Edges map[string][]float64 `yaml:"edges,omitempty" json:"edges,omitempty" format:"columns" doc:"Public bin edges by column, ascending, instead of bins found from the noisy histogram. A bin holds its lower edge; values beyond the outermost edges fall into the outermost bins."`
}

// Aim says which marginals matter.
type Aim struct {
	Target       string   `yaml:"target,omitempty" json:"target,omitempty" format:"columns" doc:"Column that the synthetic rows will be used to predict; its pairs count target_weight times. By default the target of a stage of kind downstream in the same spec; none: no column."`
	TargetWeight float64  `yaml:"target_weight" json:"target_weight" exclusiveMin:"0" doc:"Weight of pairs with the target, against 1 of others."`
	Workload     []Wanted `yaml:"workload,omitempty" json:"workload,omitempty" doc:"Marginals that matter; all pairs of columns by default. Pairs inside none of them are not measured."`
}

// Wanted is one marginal of a workload.
type Wanted struct {
	Columns []string `yaml:"columns" json:"columns" required:"true" minItems:"2" doc:"Columns of the marginal."`
	Weight  float64  `yaml:"weight,omitempty" json:"weight,omitempty" exclusiveMin:"0" doc:"How much it matters; 1 by default."`
}

// Size bounds the model.
type Size struct {
	MaxModelSize float64 `yaml:"max_model_size" json:"max_model_size" min:"1" max:"1000" doc:"Most megabytes of the model's clique tables, 8 bytes a cell; the largest clique has at most a fifth. Fitting takes two and a half times as much and 100 bytes for each cell that is measured; beside that the stage holds 2 bytes for each value of the table, 64 MB of counts at a time, and its listing of marginals as text. Drawing takes as much as the model and 2 bytes for each value of a block of rows (at most 256 MB), 6 for each number."`
}

const (
	mostSize     = 1000 // megabytes
	defaultSize  = 40   // graphical.DefaultLimits
	bytesPerCell = 8
	megabyte     = 1e6
	ofOneClique  = 5 // cliques share the size: the largest has this part of it
)

func (s Size) limits() graphical.Limits {
	cells := int64(s.MaxModelSize * megabyte / bytesPerCell)
	return graphical.Limits{Clique: max(1, cells/ofOneClique), Total: cells}
}

// check adds a problem where even columns on their own exceed the size: a model that
// cannot be held is refused before anything is paid for.
func (s Size) check(d *domain.Domain, numbers Columns, ps *schema.Problems) {
	cells, limits := int64(0), s.limits()
	for _, c := range d.Columns {
		cells += int64(numbers.mostCodes(c))
	}
	if cells > limits.Total {
		ps.Add("max_model_size", fmt.Sprintf("%g MB, with %d columns of up to %d codes together", s.MaxModelSize,
			len(d.Columns), cells),
			fmt.Sprintf("at least %.3g MB, 8 bytes a code", float64(cells)*bytesPerCell/megabyte))
		return
	}
	s.checkRules(d, numbers, ps)
}

// mostCodes bounds the codes of a column, missing values included.
func (s Columns) mostCodes(c domain.Column) int {
	switch edges, declared := s.Edges[c.Name]; {
	case c.Type.Coded() && c.Late:
		return mostCategories
	case c.Type.Coded():
		return min(len(c.Categories)+1, mostCategories)
	case declared:
		return len(edges)
	case s.Bins > 0:
		return 2*s.Bins + 2
	}
	return 2*mostFound + 2
}

// finds tells whether bins are found for a column of d.
func (s Columns) finds(d *domain.Domain) bool {
	return slices.ContainsFunc(d.Columns, func(c domain.Column) bool { return !c.Type.Coded() && s.Edges[c.Name] == nil })
}

// problems returns the problems of a table and of the settings that every kind has.
func problems(h pipeline.Header, columns Columns, aim Aim, size Size) (ps schema.Problems) {
	need(h, &ps)
	columns.check(h.Domain, &ps)
	aim.check(h.Domain, &ps)
	l := layoutOf(h.Domain)
	l.check(columns, aim, &ps)
	size.check(l.core, columns, &ps)
	return ps
}

// need adds a problem for each column of h that cannot be measured: what may be known
// before any row is read.
func need(h pipeline.Header, ps *schema.Problems) {
	if open := h.Domain.PrivateCategories(); len(open) > 0 {
		ps.Refuse("W02", "from", "a table whose columns "+strings.Join(open, ", ")+" have private categories",
			"one whose categories are declared, or released by a stage of kind dp_categories before this one")
	}
	for _, c := range h.Domain.Columns {
		if c.Late || c.Private() { // any domain that a stage releases can be measured
			continue
		}
		if c.Encoding != nil {
			ps.Add("from", fmt.Sprintf("a table whose column %s is encoded (%s)", c.Name, c.Encoding.Form),
				"the table as it is after cleaning, neither cut nor encoded")
		} else if _, err := columns.GridOf(c); err != nil {
			ps.Add("from", fmt.Sprintf("a table whose column %s (%s) cannot be measured: %v", c.Name, c.Type, err),
				"numbers with bounds and categories that are listed; drop columns of text")
		}
	}
	needRules(h.Domain, ps)
}

// check adds a problem for each wrong setting of numbers.
func (s Columns) check(d *domain.Domain, ps *schema.Problems) {
	names := make([]string, 0, len(s.Edges))
	for name := range s.Edges {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		path, c := "edges."+name, d.Column(name)
		switch edges := s.Edges[name]; {
		case c == nil:
			ps.Unknown(path, "column of the table", name, d.Names())
		case c.Type.Coded():
			ps.Add(path, "edges of a column of type "+string(c.Type), "edges of a number, a date or a time")
		case len(edges) < 2 || len(edges) > mostBins+1 || !ascending(edges):
			ps.Add(path, fmt.Sprintf("%d edges", len(edges)), fmt.Sprintf("2 to %d edges, ascending, none twice", mostBins+1))
		}
	}
}

func ascending(x []float64) bool {
	for i := 1; i < len(x); i++ {
		if !(x[i-1] < x[i]) {
			return false
		}
	}
	return true
}

// AimAt implements pipeline.Aimed.
func (s *Aim) AimAt() *string { return &s.Target }

// targetIndex returns the place of the target; -1 without one.
func (s Aim) targetIndex(d *domain.Domain) int {
	if s.Target == "" || s.Target == pipeline.NoTarget {
		return -1
	}
	return d.Index(s.Target)
}

// check adds a problem for each column of the aim that the table lacks.
func (s Aim) check(d *domain.Domain, ps *schema.Problems) {
	if s.Target != "" && s.Target != pipeline.NoTarget && d.Index(s.Target) < 0 {
		ps.Unknown("target", "column of the table", s.Target, append(d.Names(), pipeline.NoTarget))
	}
	if sum := s.heaviest(d); math.IsInf(sum, 0) {
		ps.Add("workload", "of weights whose sum no number holds",
			"of weights that can be added up and multiplied by target_weight")
	}
	for i, w := range s.Workload {
		d.Pick(ps, fmt.Sprintf("workload[%d].columns", i), w.Columns)
	}
}

// heaviest bounds what any set of columns is worth: all weights, for each column of d.
func (s Aim) heaviest(d *domain.Domain) float64 {
	sum := 1.0
	for _, w := range s.Workload {
		sum += w.Weight
	}
	return sum * max(1, s.TargetWeight) * float64(len(d.Columns))
}

// pairs lists the pairs that may be measured, with what each is worth: 1 without a
// workload, else the weights of the marginals that hold it.
func (s Aim) pairs(d *domain.Domain) (sets []graphical.Set, weights []float64) {
	target := s.targetIndex(d)
	for i := range d.Columns {
		for j := i + 1; j < len(d.Columns); j++ {
			w := s.worth(d.Columns[i].Name, d.Columns[j].Name)
			if i == target || j == target {
				w *= s.TargetWeight
			}
			if w > 0 {
				sets, weights = append(sets, graphical.Set{i, j}), append(weights, w)
			}
		}
	}
	return sets, weights
}

func (s Aim) worth(a, b string) float64 {
	if len(s.Workload) == 0 {
		return 1
	}
	sum := 0.0
	for _, w := range s.Workload {
		if slices.Contains(w.Columns, a) && slices.Contains(w.Columns, b) {
			sum += max(w.Weight, 0)
			if w.Weight == 0 {
				sum++
			}
		}
	}
	return sum
}
