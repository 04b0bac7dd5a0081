package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"weir/internal/plaintext"
	"weir/pipeline/spec"
	"weir/runtime/payment"
)

// event is a line of weir run --events. No field holds a private value: text is what a person
// would read on stderr, and Done and Total are public.
type event struct {
	Event    string           `json:"event"` // start, resumed, progress, end, runs, text, note, charge, error
	Stage    string           `json:"stage,omitempty"`
	Kind     string           `json:"kind,omitempty"`  // of start
	Done     int64            `json:"done,omitempty"`  // of resumed, progress and runs
	Total    int64            `json:"total,omitempty"` // likewise
	How      string           `json:"how,omitempty"`   // of end: done, reused, stopped
	Text     string           `json:"text,omitempty"`
	Ledgers  []payment.Quote  `json:"ledgers,omitempty"`  // of charge, as weir plan --json has them
	Code     int              `json:"code,omitempty"`     // of error: the exit code
	Problems spec.Diagnostics `json:"problems,omitempty"` // of error: the faults of the spec that the text lists
}

// events writes what happens in a run for programs that start weir: JSON objects, a line each.
type events struct {
	mu   sync.Mutex
	w    io.Writer
	said map[string]time.Time // when the last report of a stage was written
}

// eventEvery is the least time between two reports of a stage.
const eventEvery = 200 * time.Millisecond

func newEvents(w io.Writer) *events { return &events{w: w, said: map[string]time.Time{}} }

// emit writes an event. Reports of stages leave its error out, as progress on a terminal does.
func (e *events) emit(v event) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.write(v)
}

func (e *events) write(v event) error {
	line := json.NewEncoder(e.w)
	line.SetEscapeHTML(false)
	return line.Encode(v)
}

// Start, Resumed, Progress and End report stages.
func (e *events) Start(stage, kind string) { e.emit(event{Event: "start", Stage: stage, Kind: kind}) }

func (e *events) Resumed(stage string, done, total int64) {
	e.emit(event{Event: "resumed", Stage: stage, Done: done, Total: total})
}

// Progress leaves out reports that follow another one of the stage closely.
func (e *events) Progress(stage string, done, total int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if total <= 0 || time.Since(e.said[stage]) < eventEvery {
		return
	}
	e.said[stage] = time.Now()
	e.write(event{Event: "progress", Stage: stage, Done: done, Total: total})
}

func (e *events) End(stage string, reused bool, err error) {
	how := stageDone
	switch {
	case err != nil:
		how = stageStopped
	case reused:
		how = "reused"
	}
	e.emit(event{Event: "end", Stage: stage, How: how})
}

// Runs reports how many runs of an experiment have ended.
func (e *events) Runs(done, total int, words string) {
	e.emit(event{Event: "runs", Done: int64(done), Total: int64(total), Text: words})
}

// Looking writes texts.
func (e *events) Looking(dataset string) (known func()) { return looking(e, dataset) }

// Wait does nothing: events are written as they come.
func (e *events) Wait() {}

// Write emits an event "text" for each line. Each call must be given whole lines.
func (e *events) Write(text []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			continue
		}
		if err := e.write(event{Event: "text", Text: line}); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}

// note writes what needs a look.
func (e *events) note(text string) error { return e.emit(event{Event: "note", Text: text}) }

// ask writes a question, with what would be charged.
func (e *events) ask(text string, quotes []payment.Quote) error {
	return e.emit(event{Event: "charge", Text: text, Ledgers: quotes})
}

// end writes the error that ends a run, if one does, and keeps its exit code.
func (e *events) end(ctx context.Context, err error) error {
	if err = interrupted(err); err == nil {
		return nil
	}
	v := event{Event: "error", Code: exitCode(ctx, err), Text: plaintext.Text(err.Error()), Problems: problemsOf(err)}
	return errors.Join(silent(err), e.emit(v))
}

// problemsOf returns the faults of specs in an error, which may be joined of the errors of several.
func problemsOf(err error) (all spec.Diagnostics) {
	switch err := err.(type) {
	case spec.Diagnostics:
		return err
	case interface{ Unwrap() error }:
		return problemsOf(err.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range err.Unwrap() {
			all = append(all, problemsOf(one)...)
		}
	}
	return all
}
