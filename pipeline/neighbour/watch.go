package neighbour

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy"
	"weir/privacy/noise"
)

// Watch takes down the private tables that the stages of a run read and make, their secret draws, and what anyone
// outside may see of each stage.
type Watch struct {
	Plan   *compile.Plan
	Frozen *Frozen // of its mechanisms

	mu      sync.Mutex
	in, out map[string]map[string]*Rows // by stage and port
	secrets map[string][2]uint64        // by stage: what its secret begins with, which no other one does
	drew    map[string]bool             // stages that asked for a secret or for public randomness
	sights  map[string]*sight
}

// NewWatch has every stage of a plan, whose steps are the caller's own, show itself. change may change what a stage is
// given, as tests that plant faults do; nil: nothing.
func NewWatch(plan *compile.Plan, frozen *Frozen, change func(stage string, env *pipeline.Env)) *Watch {
	w := &Watch{Plan: plan, Frozen: frozen, in: map[string]map[string]*Rows{}, out: map[string]map[string]*Rows{},
		secrets: map[string][2]uint64{}, drew: map[string]bool{}, sights: map[string]*sight{}}
	for i := range plan.Steps {
		step := &plan.Steps[i]
		run := step.Work.Run
		step.Work.Run = func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			if change != nil {
				change(step.ID, env)
			}
			s := w.sightOf(step.ID)
			w.look(step.ID, env, s)
			out, err := run(ctx, env, in)
			s.end(ctx, step.Work.Out, out, err)
			w.keep(ctx, w.in, step.ID, in, nil)
			w.keep(ctx, w.out, step.ID, out, step.Work.Out)
			return out, err
		}
	}
	return w
}

// look has an environment show what its stage asks for.
func (w *Watch) look(stage string, env *pipeline.Env, s *sight) {
	s.watch(env)
	secret, random := env.Secret, env.Rand
	env.Secret = func(purpose string) *noise.Stream {
		st := secret(purpose)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.drew[stage] = true
		w.secrets[stage] = [2]uint64{st.Uint64(), st.Uint64()} // which the stage goes without
		return st
	}
	env.Rand = func(purpose string) *rand.Rand {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.drew[stage] = true
		return random(purpose)
	}
}

// keep reads tables once more: all of them can be opened again. One that ends in an
// error is not kept; the run comes to the same error.
func (w *Watch) keep(ctx context.Context, dst map[string]map[string]*Rows, stage string, tables pipeline.Tables,
	headers pipeline.Headers) {
	rows := map[string]*Rows{}
	for port, t := range tables {
		h := t.Header
		if headers != nil {
			h = headers[port]
		}
		if h.Form != pipeline.FormTable || h.Class != pipeline.Private || t.Open == nil {
			continue
		}
		if r, err := Read(ctx, t); err == nil {
			rows[port] = r
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	dst[stage] = rows
}

// Stored takes over what an earlier run saw of the stages that this one did not carry out: it has found
// their outputs in the cache.
func (w *Watch) Stored(earlier *Watch) {
	for stage, tables := range earlier.in {
		if _, own := w.in[stage]; !own {
			w.in[stage], w.out[stage] = tables, earlier.out[stage]
			w.drew[stage] = earlier.drew[stage]
		}
	}
}

// SharedSecrets lists secrets that two runs have in common and that fell to different rows. What is proven of a
// stage couples one table: in both worlds everyone but the unit that changes keeps their draw. Two runs
// may share the draws where both met that one table, whatever the world; else a unit that stands
// elsewhere in one of them moves what everyone drew in one run against the other.
func SharedSecrets(a, b *Watch) (faults []Fault) {
	for _, stage := range slices.Sorted(maps.Keys(a.secrets)) {
		for again, same := range b.secrets {
			if a.secrets[stage] == same && (stage != again || !equalTables(a.in[stage], b.in[again])) {
				faults = append(faults, Fault{stage, "both runs have the same secret draws, on different rows: what they " +
					"release together is not what each pays for"})
			}
		}
	}
	return faults
}

func equalTables(a, b map[string]*Rows) bool {
	return maps.EqualFunc(a, b, func(x, y *Rows) bool { return x.Equal(y) })
}

// sight is what anyone outside may see of a stage.
type sight struct {
	mu     sync.Mutex
	totals map[string]bool // of progress
	asked  map[string]int  // files, purposes of draws and mechanisms, by how often
	opened []string        // mechanisms, in order
	drawn  map[string]*atomic.Int64
	log    bytes.Buffer
	ended  string
	made   map[string]string // by output that others may see
}

func (w *Watch) sightOf(stage string) *sight {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &sight{totals: map[string]bool{}, asked: map[string]int{}, drawn: map[string]*atomic.Int64{},
		made: map[string]string{}}
	w.sights[stage] = s
	return s
}

func (s *sight) ask(what, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[what+" "+name]++
}

// watch has an environment tell of files, progress, the log, draws and mechanisms.
func (s *sight) watch(env *pipeline.Env) {
	progress, create, secret, random := env.Progress, env.Create, env.Secret, env.Rand
	env.Log = slog.New(tee{env.Log.Handler(), slog.NewTextHandler(s, &slog.HandlerOptions{ReplaceAttr: timeless})})
	env.Progress = func(done, total int64) {
		s.mu.Lock()
		s.totals[fmt.Sprint(total)] = true
		s.mu.Unlock()
		progress(done, total)
	}
	env.Create = func(name string) (io.WriteCloser, error) {
		s.ask("file", name)
		return create(name)
	}
	env.Secret = func(purpose string) *noise.Stream {
		s.ask("secret", purpose)
		return secret(purpose)
	}
	env.Rand = func(purpose string) *rand.Rand {
		s.ask("public draws", purpose)
		return rand.New(s.counted(purpose, random(purpose)))
	}
	env.Privacy = payer{env.Privacy, s}
}

func timeless(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// Write implements io.Writer for the log.
func (s *sight) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(b)
}

// tee is a handler that hands what it is told to two.
type tee struct{ one, other slog.Handler }

// Enabled implements slog.Handler.
func (t tee) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (t tee) Handle(ctx context.Context, r slog.Record) (err error) {
	for _, h := range []slog.Handler{t.one, t.other} {
		if h.Enabled(ctx, r.Level) {
			err = errors.Join(err, h.Handle(ctx, r.Clone()))
		}
	}
	return err
}

// WithAttrs implements slog.Handler.
func (t tee) WithAttrs(attrs []slog.Attr) slog.Handler {
	return tee{t.one.WithAttrs(attrs), t.other.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (t tee) WithGroup(name string) slog.Handler {
	return tee{t.one.WithGroup(name), t.other.WithGroup(name)}
}

// payer notes the order in which mechanisms are opened.
type payer struct {
	privacy.Payer
	s *sight
}

// Open implements privacy.Payer.
func (p payer) Open(name string) (*privacy.Handle, error) {
	p.s.mu.Lock()
	p.s.opened = append(p.s.opened, name)
	p.s.mu.Unlock()
	return p.Payer.Open(name)
}

// counted is a source that counts what is drawn from it.
type counted struct {
	rand.Source
	n *atomic.Int64
}

// Uint64 implements rand.Source.
func (c counted) Uint64() uint64 {
	c.n.Add(1)
	return c.Source.Uint64()
}

func (s *sight) counted(purpose string, source rand.Source) rand.Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drawn[purpose] == nil {
		s.drawn[purpose] = &atomic.Int64{}
	}
	return counted{source, s.drawn[purpose]}
}

// end takes down how a stage ended and the outputs that are not private. Tables are read once more.
func (s *sight) end(ctx context.Context, planned pipeline.Headers, out pipeline.Tables, err error) {
	texts := map[string]string{}
	for port, h := range planned {
		if t, ok := out[port]; ok && h.Class != pipeline.Private {
			texts[port] = shown(ctx, h, t)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made = texts
	if err != nil {
		s.ended = err.Error()
	}
}

// shown returns the header of an output as the run filled it in, and a digest of what it holds.
func shown(ctx context.Context, planned pipeline.Header, t pipeline.Table) string {
	h, err := planned.Filled(t.Domain)
	domain, unfit := json.Marshal(h.Domain)
	err = errors.Join(err, unfit)
	text := fmt.Sprintf("%s %s %d %v %s", h.Form, h.Class, h.Rows, h.Schema, domain)
	if err == nil && h.Form.IsFiles() {
		var list []pipeline.File
		list, err = pipeline.ReadFiles(ctx, t)
		for _, f := range list {
			text += fmt.Sprintf(" %s %x", f.Name, sha256.Sum256(f.Data))
		}
	} else if err == nil {
		var rows *Rows
		if rows, err = Read(ctx, t); err == nil {
			text += fmt.Sprintf(" %d rows %x", rows.Len(), sha256.Sum256(fmt.Append(nil, rows.lines)))
		}
	}
	return fmt.Sprint(text, " ", err)
}

// Seen returns what anyone outside may see of a stage, by what it is called; nil of a stage that was not carried out.
// Which draws and files it asks for is seen of stages that release something alone: no one sees what others make.
func (w *Watch) Seen(stage string) map[string]string {
	s := w.sights[stage]
	if s == nil {
		return nil
	}
	seen := map[string]string{"its error": s.ended, "its log": s.log.String(),
		"the totals of its progress": strings.Join(slices.Sorted(maps.Keys(s.totals)), ", "),
		"the mechanisms it opens":    strings.Join(s.opened, ", ")}
	if len(s.made) == 0 {
		return seen
	}
	for name, times := range s.asked {
		seen[name] = fmt.Sprint(times)
	}
	for port, text := range s.made {
		seen["its output "+port] = text
	}
	for purpose, n := range s.drawn {
		seen["the number of public draws "+purpose] = fmt.Sprint(n.Load())
	}
	return seen
}

// SameOutputs reports whether a stage has made what it made in an earlier run, all of it for anyone to see.
func (w *Watch) SameOutputs(earlier *Watch, stage string) bool {
	for _, h := range w.Plan.Step(stage).Work.Out {
		if h.Class == pipeline.Private {
			return false
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now, before := w.sights[stage], earlier.sights[stage]
	return now != nil && before != nil && maps.Equal(now.made, before.made)
}

// Broken says of the error of a run that a stage broke its plan, on whatever rows: it used a mechanism otherwise than
// planned, took one stream twice, or panicked. Other errors say nothing of that.
func Broken(err error) []Fault {
	if !errors.Is(err, privacy.ErrUses) && !errors.Is(err, noise.ErrReused) &&
		(err == nil || !strings.Contains(err.Error(), "internal error in weir")) {
		return nil
	}
	var at *pipeline.StageError
	if errors.As(err, &at) {
		return []Fault{{at.Stage, "breaks its plan: " + at.Err.Error()}}
	}
	return []Fault{{"", "breaks its plan: " + err.Error()}}
}

// Differences lists by name what differs of two things that anyone may see.
func Differences(before, after map[string]string) (names []string) {
	all := maps.Clone(before)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, after)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		a, was := before[name]
		if b, is := after[name]; was != is || a != b {
			names = append(names, name)
		}
	}
	return names
}
