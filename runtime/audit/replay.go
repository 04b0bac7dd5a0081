package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/neighbour"
	"weir/privacy"
	"weir/runtime"
	"weir/runtime/store"
)

// trace is what a run showed: to anyone, and to the audit alone.
type trace struct {
	watch  *neighbour.Watch
	made   map[string]pipeline.Tables   // what each stage made, while the folder of the run is there
	seen   map[string]string            // of the run as a whole, by what it is called
	of     map[string]map[string]string // of each stage that worked, likewise, as it was when the run ended
	panics []string                     // what internal errors of weir left on the owner's side
	err    error
}

// manner is how a run is carried out beside its rows.
type manner struct {
	frozen *neighbour.Frozen
	noise  *neighbour.Residuals
	like   *trace // a run whose outputs are taken where they can be no others; nil: every stage works
	sinks  bool   // stages of which nothing leaves work, though like has done their work
	fresh  bool   // new noise, where an earlier run of the folder has the same recipe
	stop   string // a stage that fails before it begins; "": none
}

// play carries out a plan, which is the caller's own, in a folder.
func (s *Subject) play(ctx context.Context, t *theatre, plan *compile.Plan, m manner) *trace {
	plan = t.lay(plan)
	out := &trace{made: map[string]pipeline.Tables{}, of: map[string]map[string]string{}}
	out.watch = neighbour.NewWatch(plan, m.frozen, s.plant)
	(&shortcut{trace: out, manner: m, sink: sinks(plan)}).take(plan)
	opts := t.opts
	opts.Fresh = m.fresh
	opts.Probe = func(stage string) privacy.Probe { return m.noise.Of(stage, m.frozen.Of(stage)) }
	result, err := runtime.Run(ctx, plan, opts)
	out.err = err
	out.seen = t.look(result)
	out.seen["the error"] = describe(err)
	out.panics = t.panics()
	for i := range plan.Steps { // now: tables that later runs take from this one draw once more as they are read
		out.of[plan.Steps[i].ID] = out.watch.Seen(plan.Steps[i].ID)
	}
	return out
}

// describe returns the text of an error and the types in its chain, from which a command takes its exit code.
func describe(err error) string {
	if err == nil {
		return ""
	}
	var types []string
	for e := err; e != nil; e = errors.Unwrap(e) {
		types = append(types, fmt.Sprintf("%T", e))
	}
	return err.Error() + "\n" + strings.Join(types, " of ")
}

// panics reads what internal errors left in the folders of runs.
func (t *theatre) panics() (texts []string) {
	paths, _ := filepath.Glob(filepath.Join(t.dir, "runs", "*", "*", "internal", "fault-*.txt"))
	for _, path := range paths {
		if text, err := disk.ReadFile(path, mostOfPanic); err == nil {
			texts = append(texts, string(text))
		}
	}
	return texts
}

// mostOfPanic is more than a panic leaves.
const mostOfPanic = 1 << 20

// look reads what anyone may see of the run: its release, and what its record says.
func (t *theatre) look(result *runtime.Result) map[string]string {
	seen := map[string]string{}
	if result == nil || result.Record == nil {
		return seen
	}
	root := filepath.Join(result.Path, "release")
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			digest, _, failed := store.DigestFile(path)
			seen["the released file "+filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))] =
				fmt.Sprint(digest, failed)
		}
		return nil
	})
	r := result.Record
	var charges, stages []string
	for _, c := range r.Charges {
		charges = append(charges, c.Stage+" "+c.Name)
	}
	for _, stage := range r.Stages {
		stages = append(stages, fmt.Sprint(stage.ID, " ", stage.Kind, " ", stage.Reused))
	}
	text, err := json.Marshal([]any{r.Status, r.Terms, r.Tables, r.Remarks, charges, stages})
	seen["the record"] = fmt.Sprint(string(text), err)
	return seen
}

// shortcut takes outputs of an earlier run for the outputs of stages that could make no others.
type shortcut struct {
	*trace
	manner
	sink map[string]bool
	mu   sync.Mutex
	same map[string]bool // stages whose outputs are as in the earlier run
}

// take puts the shortcut in front of the work of every step.
func (s *shortcut) take(plan *compile.Plan) {
	s.same = map[string]bool{}
	for i := range plan.Steps {
		step := &plan.Steps[i]
		run := step.Work.Run
		step.Work.Run = func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			if s.stop == step.ID {
				return nil, errStopped
			}
			if out, is := s.earlier(step); is {
				return out, nil
			}
			out, err := run(ctx, env, in)
			if err == nil {
				s.keep(ctx, step, out)
			}
			return out, err
		}
	}
}

// keep holds what a stage has made in memory, for later runs that can make no other: tables of a run cannot be read
// once it has ended. What is computed as it is read is not kept, since that is not work of the stage, nor are private
// rows.
func (s *shortcut) keep(ctx context.Context, step *compile.Step, out pipeline.Tables) {
	outputs := pipeline.Tables{}
	for port, t := range out {
		h, err := step.Work.Out[port].Filled(t.Domain)
		if err == nil && !step.Lazy && (h.Class != pipeline.Private || h.Form != pipeline.FormTable) &&
			(s.sink[step.ID] || s.public(step)) {
			outputs[port], err = inMemory(ctx, h, t)
		}
		if err != nil {
			return // the run meets the same error
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(outputs) == len(step.Work.Out) {
		s.made[step.ID] = outputs
	}
	s.same[step.ID] = s.like != nil && s.watch.SameOutputs(s.like.watch, step.ID)
}

// errStopped is how a run is interrupted.
var errStopped = errors.New("stopped by the audit")

// earlier returns the outputs of the earlier run, for a stage that reads nothing private and reads what it read there,
// and for a stage of which nothing leaves.
func (s *shortcut) earlier(step *compile.Step) (pipeline.Tables, bool) {
	if s.like == nil {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out, made := s.like.made[step.ID]
	if !made || !(s.sink[step.ID] && !s.sinks || s.post(step)) {
		return nil, false
	}
	s.made[step.ID], s.same[step.ID] = out, true
	return out, true
}

// public reports whether a stage reads nothing private, and pays for nothing.
func (s *shortcut) public(step *compile.Step) bool {
	private := func(f pipeline.FileUse) bool { return !f.Public }
	return len(step.Spends) == 0 && !slices.ContainsFunc(step.Work.Files, private) &&
		s.all(step, func(h pipeline.Header, _ pipeline.Ref) bool { return h.Class != pipeline.Private })
}

// post reports whether a stage is a function of released and public inputs that are the earlier run's.
func (s *shortcut) post(step *compile.Step) bool {
	return s.public(step) && s.all(step, func(_ pipeline.Header, ref pipeline.Ref) bool { return s.same[ref.Stage] })
}

// all reports whether a condition holds of every input that a stage reads.
func (s *shortcut) all(step *compile.Step, condition func(pipeline.Header, pipeline.Ref) bool) bool {
	for _, port := range step.Ports {
		for i, ref := range step.Inputs[port.Name] {
			name := port.Name
			if port.Many {
				name = pipeline.Indexed(port.Name, i)
			}
			if !port.Lends && !condition(step.In[name], ref) {
				return false
			}
		}
	}
	return true
}

// sinks returns the stages of which nothing leaves: their outputs are private, and no stage that releases something
// reads them.
func sinks(plan *compile.Plan) map[string]bool {
	feeds := map[string]bool{}
	sink := map[string]bool{}
	for i := len(plan.Steps) - 1; i >= 0; i-- { // a stage stands behind those it reads
		step := &plan.Steps[i]
		leaves := feeds[step.ID] || len(step.Work.Spends) > 0
		for _, h := range step.Work.Out {
			leaves = leaves || h.Class != pipeline.Private
		}
		sink[step.ID] = !leaves
		for _, refs := range step.Inputs {
			for _, ref := range refs {
				feeds[ref.Stage] = feeds[ref.Stage] || leaves
			}
		}
	}
	return sink
}
