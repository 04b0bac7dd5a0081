package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"

	"weir/pipeline/spec"
	"weir/schema"
)

// TestEventsAreAnObjectALine: whatever is written, stages, texts and notes, every line is an event of one of the
// names that programs go by, and reports that follow closely are left out.
func TestEventsAreAnObjectALine(t *testing.T) {
	var out bytes.Buffer
	e := newEvents(&out)
	p, log := newProgress(e, true), newLog(e, false)
	p.Start("train", "gs_wgan")
	p.Resumed("train", 64, 1000)
	for done := range int64(50) {
		p.Progress("train", 65+done, 1000)
	}
	p.Progress("train", 3, 0)
	fmt.Fprint(e, "two\n\nlines\n")
	log.Warn("look", "at", "\x1b[1mthis")
	p.End("train", false, context.Canceled)
	p.End("sample", true, nil)
	p.Runs(1, 2, "1 of 2 runs done")
	p.Wait()
	want := []event{{Event: "start", Stage: "train", Kind: "gs_wgan"},
		{Event: "resumed", Stage: "train", Done: 64, Total: 1000}, {Event: "progress", Stage: "train", Done: 65, Total: 1000},
		{Event: "text", Text: "two"}, {Event: "text", Text: "lines"}, {Event: "note", Text: `look (at: \x1b[1mthis)`},
		{Event: "end", Stage: "train", How: "stopped"}, {Event: "end", Stage: "sample", How: "reused"},
		{Event: "runs", Done: 1, Total: 2, Text: "1 of 2 runs done"}}
	if got := eventsIn(t, &out); !reflect.DeepEqual(got, want) {
		t.Errorf("the events are\n%+v\nmust be\n%+v", got, want)
	}
}

func eventsIn(t *testing.T, out *bytes.Buffer) (list []event) {
	t.Helper()
	for {
		line, err := out.ReadBytes('\n')
		if err == io.EOF {
			return list
		}
		var v event
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		list = append(list, v)
	}
}

// TestTheLastEventHasEveryProblem of every spec, and the exit code that the error has.
func TestTheLastEventHasEveryProblem(t *testing.T) {
	problem := func(path string) spec.Diagnostics {
		return spec.Diagnostics{{Problem: schema.Problem{Path: path, Found: "x", Accepted: "y"}}}
	}
	var out bytes.Buffer
	err := newEvents(&out).end(t.Context(),
		errors.Join(problem("a"), fmt.Errorf("more: %w", errors.Join(problem("b"), io.EOF))))
	var printed *printedError
	got := eventsIn(t, &out)
	if len(got) != 1 || got[0].Code != exitUsage || len(got[0].Problems) != 2 || got[0].Problems[1].Path != "b" ||
		!errors.As(err, &printed) {
		t.Errorf("%+v, and %v is returned; must be one error with both problems, printed", got, err)
	}
}
