package evaluate

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
	"weir/stages/metric"
)

// constraintSettings says which rules count: the rules of the domain.
type constraintSettings struct {
	Columns []string `yaml:"columns,omitempty" json:"columns,omitempty" format:"columns" unique:"true" doc:"Only the rules about one of these columns; all rules by default."`
}

// constraintsKind declares the kind that asks how many rows break the rules that the domain declares.
func constraintsKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "constraints", Version: 1,
		In:  Ports("their share is what the rules are worth there"),
		Out: Metrics(), Figures: constraintFigures(),
		Doc: "Counts the rows that break the rules of the domain. Counts the rows that break the rules which the domain of " +
			"`real` declares (`constraints`: impossible " +
			"combinations, functions, orders, cells without rows), " +
			"as shares of the rows of each table: broken over all rules, broken_synthetic and broken_real by rule. Of a " +
			"public total it gives the share of rows that would " +
			"have to change cells for the shares to be the declared ones (half the L1 distance). Use it to see that synthetic " +
			"rows are possible ones. A rule that real rows " +
			"break too is wrong, or the data are.",
		New: func() pipeline.Stage { return &constraintSettings{} },
	}
}

// Plan implements pipeline.Stage.
func (s *constraintSettings) Plan(in pipeline.Headers) (pipeline.Work, error) {
	var ps schema.Problems
	d := in["real"].Domain
	rules, wrong := domain.ReadRules(d)
	d.Pick(&ps, "columns", s.Columns)
	rules = slices.DeleteFunc(rules, func(r domain.Rule) bool { return !s.wants(d, r) })
	for _, p := range wrong {
		ps.Add("real", "a table with the rule "+p.Path+", which "+p.Found, "a table whose rules are about its columns")
	}
	return Work(in["real"], func(ctx context.Context, env *pipeline.Env, frames Frames) (
		[]pipeline.Metric, error) {
		r := &constraintRun{rules: rules, domain: d, note: Dropped(frames["real"])}
		err := r.tables(ctx, env, frames)
		return r.Metrics, err
	}), ps.Err()
}

func (s *constraintSettings) wants(d *domain.Domain, r domain.Rule) bool {
	return len(s.Columns) == 0 || slices.ContainsFunc(r.Columns, func(at int) bool {
		return slices.Contains(s.Columns,
			d.Columns[at].Name)
	})
}

// constraintRun is one run of the question.
type constraintRun struct {
	metric.List
	rules  []domain.Rule
	domain *domain.Domain
	note   string
}

// constraintNames returns the names of the figures of a table: over all rules, and by rule.
func constraintNames(port string) (all, each, total string) {
	if port == "synthetic" {
		return "broken", "broken_synthetic", "total_distance_synthetic"
	}
	return "broken_" + port, "broken_" + port, "total_distance_" + port
}

func (r *constraintRun) tables(ctx context.Context, env *pipeline.Env, frames Frames) error {
	for i, port := range []string{"synthetic", "real", "real_train"} {
		if f := frames[port]; f != nil {
			r.table(port, f)
		}
		env.Progress(int64(i+1), 3)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// table counts the rows of one table.
func (r *constraintRun) table(port string, f *columns.Frame) {
	all, each, total := constraintNames(port)
	broken, readable := make([]bool, f.Rows), 0
	for i := range r.rules {
		rule := &r.rules[i]
		mine, lacking := r.columns(rule, f)
		if lacking != "" {
			r.Add(each, rule.Label, metric.None(lacking, rule.Doc))
			continue
		}
		readable++
		t := ruleTally{rule: rule, columns: mine, broken: broken}
		t.rows(f.Rows)
		r.Add(each, rule.Label, brokenShare(t.breaches, f.Rows, port).With(rule.Doc))
		if rule.Total != nil {
			r.Add(total, rule.Label, t.distance(f.Rows, port).With(rule.Doc))
		}
	}
	r.whole(all, port, broken, readable)
}

// whole computes the figure over all rules.
func (r *constraintRun) whole(name, port string, broken []bool, readable int) {
	n := 0
	for _, b := range broken {
		if b {
			n++
		}
	}
	switch {
	case len(r.rules) == 0:
		r.Add(name, "", metric.None("the domain of real declares no such rules (constraints)"))
	case readable == 0:
		r.Add(name, "", metric.None("no rule is about columns of all tables", r.note))
	default:
		f := brokenShare(n, len(broken), port)
		if readable < len(r.rules) {
			f = f.With(fmt.Sprintf("by %d of %d rules", readable, len(r.rules)), r.note)
		}
		r.Add(name, "", f)
	}
}

// columns returns the columns of a rule in a frame; lacking says which are not there.
func (r *constraintRun) columns(rule *domain.Rule, f *columns.Frame) (list []*columns.Column, lacking string) {
	var removed []string
	for _, at := range rule.Columns {
		name := r.domain.Columns[at].Name
		if c := f.Column(name); c != nil {
			list = append(list, c)
		} else {
			removed = append(removed, name)
		}
	}
	if len(removed) > 0 {
		return nil, "not comparable in all tables: " + strings.Join(removed, ", ")
	}
	return list, ""
}

// ruleTally counts the rows of a table that break a rule.
type ruleTally struct {
	rule     *domain.Rule
	columns  []*columns.Column
	broken   []bool // by any rule
	breaches int
	cells    []int // of a total, rows by cell; the last are rows of no cell
}

func (t *ruleTally) rows(n int) {
	t.cells = make([]int, len(t.rule.Total)+1)
	values := make([]float64, len(t.columns))
	for i := range n {
		for k, c := range t.columns {
			values[k] = ruleValue(c, i)
		}
		if !t.rule.Keeps(values) {
			t.breaches++
			t.broken[i] = true
		}
		if t.rule.Total == nil {
			continue
		}
		cell := t.rule.Cell(values)
		if cell < 0 {
			cell = len(t.rule.Total)
		}
		t.cells[cell]++
	}
}

// ruleValue returns row i of a column, as rules have it.
func ruleValue(c *columns.Column, i int) float64 {
	switch {
	case c.Absent(i):
		return math.NaN()
	case c.Coded():
		return float64(c.Codes[i])
	}
	return c.Numbers[i]
}

// distance returns half the L1 distance between the shares of cells and the declared ones.
func (t *ruleTally) distance(rows int, port string) metric.Noted {
	if rows == 0 {
		return emptyTable(port)
	}
	sum := float64(t.cells[len(t.rule.Total)]) / float64(rows)
	for i, c := range t.rule.Total {
		sum += math.Abs(float64(t.cells[i])/float64(rows) - float64(c.Rows)/float64(t.rule.Rows()))
	}
	return metric.Of(sum / 2)
}

func brokenShare(n, rows int, port string) metric.Noted {
	if rows == 0 {
		return emptyTable(port)
	}
	return metric.Of(float64(n)/float64(rows), fmt.Sprintf("%d of %d rows", n, rows))
}

func emptyTable(port string) metric.Noted {
	return metric.None("the table " + port + " is empty")
}

// constraintFigures declares the shares of rows that break rules, by table.
func constraintFigures() pipeline.Figures {
	const rule = "rule"
	list := pipeline.Figures{
		{Name: "broken", Parts: rule, Better: pipeline.BetterLow, Beside: []pipeline.Role{pipeline.RealTrain},
			Doc:     "share of synthetic rows that break a declared rule, 0 is best",
			Verdict: &pipeline.Verdict{Label: "Rows that break a declared rule", Good: 0.001, Fair: 0.02}},
		{Name: "broken_real", Parts: rule, Better: pipeline.BetterLow,
			Doc: "share of real rows that break a declared rule: above 0 the rule or the data are wrong"},
		{Name: "broken_synthetic", Parts: rule, Better: pipeline.BetterLow, Real: "broken_real", Pair: "broken",
			Doc: "share of synthetic rows that break the rule, 0 is best"},
		{Name: "total_distance_real", Parts: rule, Better: pipeline.BetterLow,
			Doc: "share of real rows that would have to change cells for the public total, 0 is best"},
		{Name: "total_distance_synthetic", Parts: rule, Better: pipeline.BetterLow, Real: "total_distance_real",
			Pair: "total_distance",
			Doc:  "share of synthetic rows that would have to change cells for the public total, 0 is best"},
		{Name: "total_distance_real_train", Parts: rule, Better: pipeline.BetterLow,
			Doc: "share of the model's rows that would have to change cells for the public total, 0 is best"},
	}
	return append(list, RowsFigure())
}
