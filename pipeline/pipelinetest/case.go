package pipelinetest

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
)

// Case is one configured stage and the tables that it reads.
type Case struct {
	Name  string
	Stage func() pipeline.Stage // settings filled in; called anew for each run
	In    map[string]Input      // by port; ports that take many are port.0, port.1 and so on
	// Fails says that reading the outputs has to end with an error (of a value
	// that the settings refuse); the plan has to be fine.
	Fails bool
	// Whole says that the result may depend on all rows, so that single rows and
	// columns of nothing but missing may be errors.
	Whole bool
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

// Check runs all conformance tests on each case. A kind without a case fails.
func Check(t *testing.T, kind pipeline.Kind, cases ...Case) {
	t.Helper()
	if len(cases) == 0 {
		t.Errorf("kind %s has no conformance case", kind.Name)
	}
	t.Run("kind", func(t *testing.T) { checkKind(t, kind) })
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { checkCase(t, kind, c) })
	}
}

func checkCase(t reporter, kind pipeline.Kind, c Case) {
	checkPlan(t, kind, c)
	checkOutputs(t, kind, c)
	checkRepeats(t, kind, c)
	checkCancelled(t, kind, c)
	checkUnknownColumns(t, kind, c)
	if !c.Fails {
		checkShapes(t, kind, c)
		checkLazy(t, kind, c)
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
		t[port] = pipeline.FromRecords(in.Header, batches(in.Rows, size)...)
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

// with returns the case with its port "in" replaced; the public row count is
// that of the new rows where there was one.
func (c Case) with(rows arrow.Record) Case {
	in := map[string]Input{}
	for port, i := range c.In {
		if port == "in" {
			if i.Rows = rows; i.Header.Rows > 0 {
				i.Header.Rows = rows.NumRows()
			}
		}
		in[port] = i
	}
	c.In = in
	return c
}
