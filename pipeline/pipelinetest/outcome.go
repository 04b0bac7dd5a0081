package pipelinetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/neighbour"
	"weir/privacy/noise"
)

// manner is how a case is run.
type manner struct {
	size    int64 // rows of a batch; 0: all
	workers int
	stays   bool                // the rows of the input in stay in a database
	key     byte                // of the mechanisms' noise; secrets and public randomness stay
	probe   *neighbour.Frozen   // may be nil
	drawn   int64               // uses that an interrupted attempt had released
	env     func(*pipeline.Env) // changes the environment; may be nil
}

// outcome is what a run leaves: its outputs, and what anyone outside may see.
type outcome struct {
	records map[string]arrow.Record
	headers pipeline.Headers // of the records: as planned, with the domain that was released
	err     error
	work    pipeline.Work
	ledger  *Ledger
	sight   *sight
	edited  []string // headers that the run changed
}

// sight takes down what a run shows on its way.
type sight struct {
	mu       sync.Mutex
	progress map[[2]int64]int // how often each pair of done and total is reported
	last     [2]int64         // the pair reported last
	files    []string
	secret   bool
	log      bytes.Buffer
}

// observe runs a case and reads each output in whole.
func observe(ctx context.Context, c Case, m manner) outcome {
	work, plan, err := c.planned()
	if err != nil {
		return outcome{sight: newSight(), work: work, err: err}
	}
	return carryOut(ctx, c, work, plan, m)
}

// recording is a run and what its mechanisms took in and gave out.
type recording struct {
	outcome
	mechanisms *neighbour.Frozen
}

// recorded runs a case under a key, in one batch with one worker. Checks that ask for the same run share it:
// checkRepeats holds that it is the same each time.
func (c Case) recorded(key byte) recording {
	if r, ok := c.seen[key]; ok {
		return r
	}
	r := recording{mechanisms: neighbour.NewFrozen()}
	r.outcome = observe(context.Background(), c, manner{key: key, probe: r.mechanisms})
	if c.seen != nil {
		c.seen[key] = r
	}
	return r
}

// carryOut carries out the work of a case, which may have been carried out before.
func carryOut(ctx context.Context, c Case, work pipeline.Work, plan []pipeline.Planned, m manner) (o outcome) {
	o = outcome{sight: newSight(), work: work}
	o.ledger = &Ledger{Key: noise.Key{9, m.key}, Plan: plan, Drawn: m.drawn}
	if m.probe != nil {
		o.ledger.Probe = m.probe.Of("")
	}
	env := o.sight.env(max(1, m.workers), c.Kinds)
	env.Privacy = o.ledger
	if m.env != nil {
		m.env(env)
	}
	headers := []pipeline.Headers{c.headers(), o.work.Out}
	before := []map[string]any{headerTexts(headers[0]), headerTexts(headers[1])}
	defer func() { o.edited = editedHeaders(before, headers) }()
	in := c.tables(m.size)
	if m.stays {
		in["in"] = Stays(in["in"])
	}
	out, err := o.work.Run(ctx, env, in)
	if o.err = err; err != nil {
		return o
	}
	o.records, o.headers = map[string]arrow.Record{}, pipeline.Headers{}
	for port, t := range out {
		if o.headers[port], o.err = o.work.Out[port].Filled(t.Domain); o.err != nil {
			return o
		}
		if o.records[port], err = Collect(ctx, t); err != nil {
			o.err = fmt.Errorf("output %s: %w", port, err)
			return o
		}
	}
	return o
}

func newSight() *sight { return &sight{progress: map[[2]int64]int{}} }

// editedHeaders lists the ports whose headers a run has changed: domains are shared
// by all stages and published, and their classes say what is released.
func editedHeaders(before []map[string]any, now []pipeline.Headers) (ports []string) {
	for i, was := range before {
		for port, h := range headerTexts(now[i]) {
			if !reflect.DeepEqual(was[port], h) {
				ports = append(ports, port)
			}
		}
	}
	slices.Sort(ports)
	return ports
}

func (s *sight) env(workers int, kinds []pipeline.Kind) *pipeline.Env {
	env := Env(workers, kinds...)
	env.Log = slog.New(slog.NewTextHandler(lockedWriter{s}, &slog.HandlerOptions{ReplaceAttr: func(_ []string,
		a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	env.Progress = func(done, total int64) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.last = [2]int64{done, total}
		s.progress[s.last]++
	}
	create, secret := env.Create, env.Secret
	env.Create = func(name string) (io.WriteCloser, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.files = append(s.files, name)
		return create(name)
	}
	env.Secret = func(purpose string) *noise.Stream {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.secret = true
		return secret(purpose)
	}
	return env
}

type lockedWriter struct{ s *sight }

func (w lockedWriter) Write(b []byte) (int, error) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	return w.s.log.Write(b)
}

// reports returns the progress that was shown, in order of what is done: the order of time is
// the goroutines'.
func (s *sight) reports() string {
	var list []string
	for _, place := range slices.SortedFunc(maps.Keys(s.progress), func(a, b [2]int64) int {
		return slices.Compare(a[:],
			b[:])
	}) {
		list = append(list, fmt.Sprintf("%d of %d (%d times)", place[0], place[1], s.progress[place]))
	}
	return strings.Join(list, ", ")
}

// shown returns what anyone may see of a run on the way, by what it is called.
func (o outcome) shown() map[string]string {
	m := map[string]string{"progress": o.sight.reports(), "lines of the log": o.sight.log.String(),
		"files created": fmt.Sprint(o.sight.files), "error": ""}
	if o.err != nil {
		m["error"] = o.err.Error()
	}
	return m
}

// released lists the outputs that others may see, as bytes.
func (o outcome) released(t reporter) map[string][]byte {
	m := map[string][]byte{}
	for port, r := range o.records {
		if o.work.Out[port].Class != pipeline.Private {
			m[port] = encoded(t, r)
		}
	}
	return m
}

// differences lists what differs of two runs and must not.
func (o outcome) differences(t reporter, other outcome) []string {
	var list []string
	before, current := o.shown(), other.shown()
	for _, what := range []string{"error", "progress", "lines of the log", "files created"} {
		if before[what] != current[what] {
			a, b := abridged(before[what], current[what])
			list = append(list, fmt.Sprintf("%s: %q becomes %q: it tells of private rows", what, a, b))
		}
	}
	was, is := o.released(t), other.released(t)
	for port := range was {
		if o.err == nil && other.err == nil && !bytes.Equal(was[port], is[port]) {
			list = append(list, fmt.Sprintf("output %s is %s and differs though no mechanism gives anything else: it depends "+
				"on private rows past them", port, o.work.Out[port].Class))
		}
	}
	return list
}

// abridged leaves out most of what two long texts begin with alike, and of what comes
// long after they part.
func abridged(a, b string) (string, string) {
	const before, after = 40, 160
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	from := max(0, same-before)
	return a[from:min(len(a), same+after)], b[from:min(len(b), same+after)]
}
