// Package evaluate holds the kinds that judge a synthetic table against real rows, a file for
// each question, and what they have in common: ports, output, progress and how they read tables.
// What they return is private, whatever went in besides: no metric is published without a
// mechanism.
package evaluate

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"weir/pipeline"
	"weir/schema"
	"weir/stages/internal/columns"
)

// Kinds lists the kind of every question.
func Kinds() []pipeline.Kind {
	return []pipeline.Kind{
		marginalsKind(), associationsKind(), projectionKind(), detectabilityKind(), constraintsKind(),
		disclosureKind(), downstreamKind(), dimensionKind(), regressionKind(), queriesKind(),
	}
}

// Ports returns the ports of a comparison of whole tables; beside says what real_train is
// for.
func Ports(comparison string) []pipeline.Port {
	return []pipeline.Port{
		Table("real", "real rows, preferably ones that no model has seen", false),
		Table("synthetic", "the rows to judge", false),
		Table("real_train", "the real rows that the model learnt from: "+comparison, true),
		Baseline(),
	}
}

// Baseline returns the input of what a table must be better than to be worth its epsilon.
func Baseline() pipeline.Port {
	return Table("baseline", "rows of independent columns at the same epsilon (kind `independent`): what is worse than "+
		"they are is lost", true)
}

// names returns the ports of tables, in the order in which figures of them are given.
func names() []string { return []string{"real", "synthetic", "real_train", "baseline"} }

// Table returns an input of rows.
func Table(name, doc string, optional bool) pipeline.Port {
	return pipeline.Port{Name: name, Form: pipeline.FormTable, Doc: doc, Optional: optional}
}

// Metrics returns the one output of a metric kind.
func Metrics() []pipeline.Port {
	return []pipeline.Port{{Name: "out", Form: pipeline.FormMetrics, Doc: "figures against real rows: private, always"}}
}

// RowsFigure declares the counts of rows that Work adds to the figures of a kind.
func RowsFigure() pipeline.Figure {
	return pipeline.Figure{Name: rowsName, Parts: "table", Better: pipeline.BetterPlain, Rows: true,
		Doc: "rows of the table that were compared"}
}

const rowsName = "rows"

// header returns the header of metrics: private and unbounded, since every
// figure may depend on every real row. like gives the privacy terms.
func header(like pipeline.Header) pipeline.Header {
	return pipeline.Header{
		Form: pipeline.FormMetrics, Schema: pipeline.MetricsSchema(), Class: pipeline.Private,
		Stability: pipeline.Unbounded(), Terms: like.Terms,
	}
}

// Frames are the tables of a comparison by port, aligned on their common columns (see
// columns.Align); a port that is not connected has none.
type Frames map[string]*columns.Frame

// rows returns the row counts of the tables: a reader must know how many rows speak.
func (f Frames) rows() (list []pipeline.Metric) {
	for _, port := range names() {
		if f[port] != nil {
			list = append(list, pipeline.Metric{Name: rowsName, Column: port, Value: float64(f[port].Rows)})
		}
	}
	return list
}

// Work returns the work of a kind that reads the tables of Ports and gives figures. It fails where it is
// cancelled or a table cannot be read, and never for what the rows are: that a run
// fails would tell of them, so every figure that they do not allow has a note
// instead.
func Work(like pipeline.Header, measure func(context.Context, *pipeline.Env, Frames) ([]pipeline.Metric,
	error)) pipeline.Work {
	return WorkBeside(like, func(ctx context.Context, env *pipeline.Env, frames Frames,
		_ pipeline.Tables) ([]pipeline.Metric, error) {
		return measure(ctx, env, frames)
	})
}

// WorkBeside returns the Work of a kind that reads inputs beside the tables of Ports.
func WorkBeside(like pipeline.Header, measure func(context.Context, *pipeline.Env, Frames,
	pipeline.Tables) ([]pipeline.Metric, error)) pipeline.Work {
	h := header(like)
	return pipeline.Work{Out: pipeline.Headers{"out": h}, Run: func(ctx context.Context, env *pipeline.Env,
		in pipeline.Tables) (pipeline.Tables, error) {
		shares := newShares(env)
		frames, err := Read(ctx, in)
		if err != nil {
			return nil, err
		}
		list, err := measure(ctx, shares.counting(env), frames, in)
		if err != nil {
			return nil, err
		}
		shares.reach(allShares)
		return pipeline.Tables{"out": pipeline.WriteMetrics(h, append(list, frames.rows()...))}, nil
	}}
}

// Comparable refuses a column that the tables hold as different things, and text.
func Comparable(ps *schema.Problems, path, name string, in pipeline.Headers) {
	real := in["real"].Domain.Column(name)
	if real == nil {
		return
	}
	for _, port := range names() {
		h, ok := in[port]
		if !ok || h.Domain.Column(name) == nil {
			continue
		}
		switch c := h.Domain.Column(name); {
		case columns.Unreadable(*c) != "":
			ps.Add(path, name+", which in "+port+" "+columns.Unreadable(*c), "a number or a category")
		case c.Type.Coded() != real.Type.Coded():
			ps.Add(path, fmt.Sprintf("%s, which is %s in real and %s in %s", name, real.Type, c.Type, port),
				"a column that can be compared")
		}
	}
}

// Read reads what is connected of the ports of tables.
func Read(ctx context.Context, in pipeline.Tables) (Frames, error) {
	var frames []*columns.Frame
	var connected []string
	for _, p := range names() {
		t, ok := in[p]
		if !ok {
			continue
		}
		f, err := columns.Read(ctx, t)
		if err != nil {
			return nil, err
		}
		frames, connected = append(frames, f), append(connected, p)
	}
	aligned := Frames{}
	for i, f := range columns.Align(frames...) {
		aligned[connected[i]] = f
	}
	return aligned, nil
}

// Dropped says which columns a comparison left out, and why.
func Dropped(f *columns.Frame) string {
	list := make([]string, len(f.Dropped))
	for i, d := range f.Dropped {
		list[i] = d.Column + " " + d.Reason
	}
	if len(list) == 0 {
		return ""
	}
	return "left out: " + strings.Join(list, "; ")
}

// Empty says which table has no rows; "" where both have some.
func Empty(real, synthetic int) string {
	switch {
	case real == 0 && synthetic == 0:
		return "both tables are empty"
	case real == 0:
		return "the real table is empty"
	case synthetic == 0:
		return "the synthetic table is empty"
	}
	return ""
}

// allShares is the number of steps in which the progress of a stage is shown.
const allShares = 100

// shares shows the progress of a stage as a share of the whole, each hundredth once,
// whatever the rows are. How many fits or pairs of columns there are to do, and
// whether there are any, may depend on the rows, and fractions of that number would
// tell it; so hundredths that a stage leaps over are shown with the next.
type shares struct {
	mu   sync.Mutex
	next int64 // to be shown
	show func(done, total int64)
}

// newShares shows the beginning.
func newShares(env *pipeline.Env) *shares {
	s := &shares{show: env.Progress}
	s.reach(0)
	return s
}

// counting returns the environment that counts in a unit of the stage's own.
func (s *shares) counting(env *pipeline.Env) *pipeline.Env {
	shown := *env
	shown.Progress = func(done, total int64) {
		if total > 0 {
			s.reach(min(done, total) * allShares / total)
		}
	}
	return &shown
}

// reach shows all up to a share.
func (s *shares) reach(share int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ; s.next <= share; s.next++ {
		s.show(s.next, allShares)
	}
}
