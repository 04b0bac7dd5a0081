package graphical

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/train/graphical"
)

// layout is a table as a model has it: columns that are measured, and columns that follow
// from one of these by a function of the domain (domain.Derivations). The latter are
// not read at all: no histogram, no pair and no budget is for them, and a row of the
// source that breaks the function counts by the column that it is of. So the release is a
// function of fewer columns than the table has, and no sensitivity grows. Their values are
// found when rows are drawn, from the drawn values of the others.
type layout struct {
	whole   *domain.Domain   // of the table
	core    *domain.Domain   // the columns that are measured, and the rules about them
	places  []int            // in the whole, of the columns of the core
	derived []domain.Derived // by places in the whole, each behind the one that it is of
}

// layoutOf leaves out whatever can be found again. It follows from the domain alone.
func layoutOf(d *domain.Domain) layout {
	return layoutBut(d, func(int) bool { return false })
}

// layoutBut leaves none of the given columns out.
func layoutBut(d *domain.Domain, measured func(column int) bool) layout {
	l := layout{whole: d, core: d, places: first(len(d.Columns))}
	rules, _ := domain.ReadRules(d) // the plan has held them
	left, rest := domain.Derivations(d, rules, func(column int) bool { return !measured(column) })
	if len(left) == 0 {
		return l
	}
	l.derived, l.core, l.places = left, &domain.Domain{}, nil
	for j, c := range d.Columns {
		if !slices.ContainsFunc(left, func(x domain.Derived) bool { return x.Column == j }) {
			l.core.Columns, l.places = append(l.core.Columns, c), append(l.places, j)
		}
	}
	for _, r := range rest {
		l.core.Constraints = append(l.core.Constraints, d.Constraints[r.Place])
	}
	return l
}

// names lists the derived columns, in the order of derivation.
func (l layout) names() []string {
	var list []string
	for _, x := range l.derived {
		list = append(list, l.whole.Columns[x.Column].Name)
	}
	return list
}

// header returns the header of the table without its derived columns: what a plan reckons with.
func (l layout) header(h pipeline.Header) pipeline.Header {
	h.Domain = l.core
	return h
}

// derivation returns how a column follows from another; nil where it is measured.
func (l layout) derivation(name string) *domain.Derived {
	for i, x := range l.derived {
		if l.whole.Columns[x.Column].Name == name {
			return &l.derived[i]
		}
	}
	return nil
}

// root returns the measured column that a column follows from, or is.
func (l layout) root(name string) string {
	for x := l.derivation(name); x != nil; x = l.derivation(name) {
		name = l.whole.Columns[x.Of].Name
	}
	return name
}

// roots returns the roots of several columns, each once, in the order of the names.
func (l layout) roots(names []string) (list []string) {
	for _, name := range names {
		if root := l.root(name); !slices.Contains(list, root) {
			list = append(list, root)
		}
	}
	return list
}

// aim returns an aim in which a derived column means the one that it follows from.
func (l layout) aim(a Aim) Aim {
	a.Target, a.Workload = l.root(a.Target), slices.Clone(a.Workload)
	for i := range a.Workload {
		a.Workload[i].Columns = l.roots(a.Workload[i].Columns)
	}
	return a
}

// columnsPerCore returns how many columns of the table each column of the core stands for: itself, and
// what follows from it. Of k values that follow from the values of c cells the error of a noisy
// histogram is the root of k/c of the error of the cells, and that part it counts.
func (l layout) columnsPerCore() []float64 {
	list := repeated(1, len(l.core.Columns))
	for _, x := range l.derived {
		at := l.core.Index(l.root(l.whole.Columns[x.Column].Name))
		if g, err := columns.GridOf(l.core.Columns[at]); err == nil {
			list[at] += math.Sqrt(min(1, float64(x.Values())/float64(g.Cells())))
		}
	}
	return list
}

// pairs returns the pairs of an aim. Without a workload all columns of the table matter alike, so
// that a pair counts as often as its columns stand for others.
func (l layout) pairs(a Aim) (sets []graphical.Set, weights []float64) {
	sets, weights = l.aim(a).pairs(l.core)
	often := l.often(a)
	for i := range sets {
		weights[i] *= often(sets[i])
	}
	return sets, weights
}

// workload returns the workload of an aim, weighed alike.
func (l layout) workload(a Aim) []candidate {
	list, often := l.aim(a).workload(l.core), l.often(a)
	for i := range list {
		list[i].weight *= often(list[i].set)
	}
	return list
}

// often returns how often a set of core columns counts under an aim.
func (l layout) often(a Aim) func(set graphical.Set) float64 {
	if len(a.Workload) > 0 {
		return func(graphical.Set) float64 { return 1 }
	}
	place := l.columnsPerCore() // once: there are thousands of pairs
	return func(set graphical.Set) float64 {
		times := 1.0
		for _, column := range set {
			times *= place[column]
		}
		return times
	}
}

// check adds a problem for each setting that has no meaning for derived columns.
func (l layout) check(s Columns, a Aim, ps *schema.Problems) {
	for _, name := range l.names() {
		if _, given := s.Edges[name]; given {
			ps.Add("edges."+name, "given for "+l.why(name), "left out: its values follow from those of "+l.root(name)+
				", which may have edges where it is a number")
		}
	}
	for i, w := range a.Workload {
		if roots := l.roots(w.Columns); len(w.Columns) > 1 && len(roots) == 1 {
			ps.Add(fmt.Sprintf("workload[%d].columns", i), strings.Join(w.Columns, ", ")+", all of which follow from "+roots[0],
				"columns of which at least two are measured; functions of the domain fix how these go together")
		}
	}
}

// why words a derived column.
func (l layout) why(name string) string {
	x := l.derivation(name)
	return fmt.Sprintf("%s, a function of %s (constraints[%d] of the domain)", name, l.whole.Columns[x.Of].Name, x.Place)
}

// decided says on the plan which columns are not measured.
func (l layout) decided() (list []pipeline.Decided) {
	for _, x := range l.derived {
		list = append(list, pipeline.Decided{Setting: "columns", Value: l.whole.Columns[x.Column].Name + " is not measured",
			Why: fmt.Sprintf("it is a function of %s, constraints[%d] of the domain: no budget is for it",
				l.whole.Columns[x.Of].Name, x.Place)})
	}
	return list
}

// derive fills in the columns of rows that follow from others: arrays by column of the
// whole, of the types that its schema says.
func (l layout) derive(schema *arrow.Schema, arrays []arrow.Array) {
	for _, x := range l.derived {
		subject := arrays[x.Of]
		values := make([]float64, subject.Len())
		for i := range values {
			values[i] = math.NaN()
			if subject.IsValid(i) {
				values[i] = numberAt(subject, i)
			}
			values[i] = x.Value(values[i])
		}
		b := array.NewBuilder(memory.DefaultAllocator, schema.Field(x.Column).Type)
		appendValues(b, values)
		arrays[x.Column] = b.NewArray()
	}
}

// publicRows returns the number of rows where it is public, else 0. Where it is private, what is
// said of the rows in all comes from released histograms.
func publicRows(h pipeline.Header) float64 {
	return float64(columns.PublicRows(h))
}
