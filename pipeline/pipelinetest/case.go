// Package pipelinetest holds the conformance test that every kind runs: Check
// puts a kind through everything that the runtime and the privacy types rely on.
package pipelinetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/bill"
	"weir/privacy"
)

// Case is one configured stage and the tables that it reads.
type Case struct {
	Name  string
	Stage func() pipeline.Stage // settings filled in; called anew for each run
	In    map[string]Input      // by port; ports that take many are port.0, port.1 and so on
	// Fails says that reading the outputs has to end with an error (of a value
	// that the settings refuse); the plan has to be fine.
	Fails bool
	// Whole says that the result may depend on all rows of a public table, so that
	// single rows and columns of nothing but missing may be errors.
	Whole bool
	// Scale is the scale of the noise (see pipeline.Spend); 0 is what the settings fix, or
	// else 1.
	Scale float64
	// Kinds are those whose models and detectors it reads; the kinds of the room by default.
	Kinds []pipeline.Kind

	kind   *pipeline.Kind
	seen   map[byte]recording // runs of this very case, by key; nil: none is kept
	place  int                // among the cases of its kind
	beside int                // how many these are; 0: it is alone
}

// Input is a table of a case: its header and all rows.
type Input struct {
	Header pipeline.Header
	Rows   arrow.Record
}

// reporter is what the checks need of *testing.T.
type reporter interface {
	Error(...any)
	Errorf(string, ...any)
	Fatal(...any)
	Fatalf(string, ...any)
}

// CheckKinds runs the conformance tests of a room: every kind has a case, and every
// case a kind. The test of package stages wants a call of it beside each kind.
func CheckKinds(t *testing.T, kinds []pipeline.Kind, cases map[string][]Case) {
	t.Helper()
	checkListed(t, kinds, cases)
	for _, k := range kinds {
		t.Run(k.Name, func(t *testing.T) { check(t, k, kinds, cases[k.Name]) })
	}
}

func checkListed(t reporter, kinds []pipeline.Kind, cases map[string][]Case) {
	known := map[string]bool{}
	for _, k := range kinds {
		known[k.Name] = true
		if len(cases[k.Name]) == 0 {
			t.Errorf("kind %s has no conformance case", k.Name)
		}
	}
	for name := range cases {
		if !known[name] {
			t.Errorf("cases of %s, which is not a kind of this room", name)
		}
	}
}

// Check runs all conformance tests on each case of a kind.
func Check(t *testing.T, kind pipeline.Kind, cases ...Case) {
	t.Helper()
	check(t, kind, []pipeline.Kind{kind}, cases)
}

func check(t *testing.T, kind pipeline.Kind, room []pipeline.Kind, cases []Case) {
	t.Helper()
	t.Run("kind", func(t *testing.T) { checkKind(t, kind) })
	for i, c := range cases {
		c.place, c.beside = i, len(cases)
		if c.Kinds == nil {
			c.Kinds = room
		}
		t.Run(c.Name, func(t *testing.T) { checkCase(t, kind, c) })
	}
}

func checkCase(t reporter, kind pipeline.Kind, c Case) {
	c.kind, c.seen = &kind, map[byte]recording{}
	checkPlan(t, kind, c)
	checkOutputs(t, kind, c)
	checkRepeats(t, kind, c)
	checkCancelled(t, kind, c)
	checkUnknownColumns(t, kind, c)
	checkLate(t, kind, c)
	checkNeighbours(t, c)
	if !c.Fails {
		checkShapes(t, kind, c)
		checkLazy(t, kind, c)
		checkUnits(t, c)
		checkPaid(t, c)
		checkStill(t, c)
		checkProgress(t, c)
		checkMany(t, c)
		checkResumed(t, c)
		checkPairs(t, c)
		checkRelation(t, c)
	}
}

func (c Case) headers() pipeline.Headers {
	h := pipeline.Headers{}
	for port, in := range c.In {
		h[port] = in.Header
	}
	return h
}

// tables offers the rows in batches of the given size (0: one batch).
func (c Case) tables(size int64) pipeline.Tables {
	t := pipeline.Tables{}
	for port, in := range c.In {
		t[port] = Artifact(in.Header, batches(in.Rows, size)...)
	}
	return t
}

func batches(r arrow.Record, size int64) []arrow.Record {
	if size <= 0 || r.NumRows() == 0 {
		return []arrow.Record{r}
	}
	var list []arrow.Record
	for at := int64(0); at < r.NumRows(); at += size {
		list = append(list, r.NewSlice(at, min(at+size, r.NumRows())))
	}
	return list
}

// tablePorts lists the inputs of rows, in order.
func (c Case) tablePorts() []string {
	var ports []string
	for port, in := range c.In {
		if in.Header.Form == pipeline.FormTable && in.Header.Domain != nil {
			ports = append(ports, port)
		}
	}
	slices.Sort(ports)
	return ports
}

// withRows returns the case with other rows at a port; the public row count is the count of
// the new rows where there was one.
func (c Case) withRows(port string, rows arrow.Record) Case {
	c.In, c.seen = maps.Clone(c.In), nil
	i := c.In[port]
	if i.Rows = rows; i.Header.Rows > 0 {
		i.Header.Rows = rows.NumRows()
	}
	c.In[port] = i
	return c
}

// private reports whether an input is.
func (c Case) private() bool {
	for _, in := range c.In {
		if in.Header.Class == pipeline.Private {
			return true
		}
	}
	return false
}

// adjacency returns the adjacency of the inputs: all come from one dataset.
func (c Case) adjacency() privacy.Adjacency {
	for _, in := range c.In {
		if in.Header.Terms.Adjacency == privacy.AddRemove {
			return privacy.AddRemove
		}
	}
	return privacy.ReplaceOne
}

// planned returns the work of a case with its priced mechanisms.
func (c Case) planned() (pipeline.Work, []pipeline.Planned, error) {
	work, err := c.Stage().Plan(c.headers())
	if err != nil {
		return work, nil, fmt.Errorf("plan: %w", err)
	}
	scale := c.Scale
	if scale == 0 {
		scale = work.Pricing.Scale
	}
	if scale == 0 {
		scale = 1
	}
	list, err := bill.Price(c.kind, c.headers(), work, scale, c.adjacency())
	return work, list, err
}

// crowded is how many rows a small table is repeated to: cases have some 40, and what
// happens above a number of rows only (an error, another loop) would never be seen.
const crowded = 1500

// checkMany checks that what a paid stage shows and releases follows from its mechanisms' outputs
// alone, so with these frozen a table of many rows gives what one of few does. No
// sensitivity is compared: the tables are not neighbours.
func checkMany(t reporter, c Case) {
	many, ok := c.many()
	if _, plan, err := c.planned(); err != nil || len(plan) == 0 || !ok {
		return
	}
	few := c.recorded(1)
	replay := few.mechanisms.Neighbour()
	now := observe(context.Background(), many, manner{key: 1, probe: replay})
	faults := few.differences(t, now)
	if a, b := len(few.mechanisms.Uses()), len(replay.Uses()); a != b {
		faults = append(faults, fmt.Sprintf("%d uses become %d: the number of uses depends on the data", a, b))
	}
	for _, fault := range faults {
		t.Errorf("%d rows: %s", crowded, fault)
	}
}

// many returns the case with its private tables repeated. Tables whose number of rows is
// public stay, since a plan may depend on it, and so do those with a privacy unit,
// which may have so many rows and no more.
func (c Case) many() (Case, bool) {
	any := false
	for _, port := range c.tablePorts() {
		in := c.In[port]
		n := int(in.Rows.NumRows())
		if h := in.Header; h.Class != pipeline.Private || h.Rows > 0 || n == 0 || h.Terms.Unit.Column != "" {
			continue
		}
		c, any = c.withRows(port, repeated(in, n)), true
	}
	return c, any
}

func repeated(in Input, n int) arrow.Record {
	lines := make([]line, crowded)
	for i := range lines {
		lines[i].row = i % n
	}
	return edited(in, lines)
}
