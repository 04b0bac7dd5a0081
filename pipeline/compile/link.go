package compile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/schema"
)

// linker resolves references between stages and orders them.
type linker struct {
	spec   *spec.Spec
	byID   map[string]*spec.Stage
	bad    map[string]bool // stages whose inputs are not what they must be
	faults spec.Diagnostics
}

// link returns the stages in an order in which every stage comes after those it
// reads, keeping the order of the spec where it may; the stages of a cycle and those
// with a bad input are left out.
func link(s *spec.Spec) ([]*spec.Stage, spec.Diagnostics) {
	l := &linker{spec: s, byID: map[string]*spec.Stage{}, bad: map[string]bool{}}
	for i := range s.Stages {
		l.byID[s.Stages[i].ID] = &s.Stages[i]
	}
	for i := range s.Stages {
		l.resolve(i)
	}
	sorted := l.order()
	return slices.DeleteFunc(sorted, func(s *spec.Stage) bool { return l.bad[s.ID] }), l.faults
}

func (l *linker) resolve(i int) {
	s := &l.spec.Stages[i]
	for p := range s.Kind.In {
		port := &s.Kind.In[p]
		if len(s.Inputs[port.Name]) == 0 && !port.Optional && s.Stage != nil {
			l.fault(s, port, "missing", "a stage: "+port.Doc, "")
		}
		for _, r := range s.Inputs[port.Name] {
			l.checkRef(s, port, r)
		}
	}
}

func (l *linker) checkRef(s *spec.Stage, port *pipeline.Port, r pipeline.Ref) {
	form := pipeline.FormTable
	if r.Stage != pipeline.DatasetID {
		target := l.byID[r.Stage]
		if target == nil {
			hint := schema.DidYouMean(r.Stage, l.ids())
			if slices.Contains(l.spec.Off, r.Stage) {
				hint = "--set stages." + r.Stage + "=off took it out, and " + s.ID + " reads it"
			}
			l.fault(s, port, fmt.Sprintf("%q", r.Stage), "the name of a stage: "+l.names(), hint)
			return
		}
		if target.Unread() {
			return
		}
		out := target.Kind.OutPort(r.Port)
		if out == nil {
			l.fault(s, port, fmt.Sprintf("%q", r.String()), "an output of "+r.Stage+": "+outNames(target.Kind), "")
			return
		}
		form = out.Form
	} else if r.Port != "" {
		l.fault(s, port, fmt.Sprintf("%q", r.String()), "dataset alone, which has one output", "")
	}
	if !s.Unread() && !port.Takes(form) {
		l.fault(s, port, fmt.Sprintf("%s, which gives a %s", r, form), "a stage that gives a "+port.Forms()+l.fitting(port),
			"")
	}
}

// order sorts by dependency (Kahn's algorithm, always the first ready stage).
func (l *linker) order() []*spec.Stage {
	done := map[string]bool{pipeline.DatasetID: true}
	var sorted []*spec.Stage
	for len(sorted) < len(l.spec.Stages) {
		next := l.firstReady(done)
		if next == nil {
			l.faults = append(l.faults, l.spec.Fault("stages", "a cycle: "+l.cycle(done),
				"acyclic: stages must not form a cycle", ""))
			return sorted
		}
		done[next.ID] = true
		sorted = append(sorted, next)
	}
	return sorted
}

func (l *linker) firstReady(done map[string]bool) *spec.Stage {
	for i := range l.spec.Stages {
		if s := &l.spec.Stages[i]; !done[s.ID] && l.waitsFor(s, done) == "" {
			return s
		}
	}
	return nil
}

// waitsFor names an input stage that is not done, or "". A stage that there is not
// is a fault of its own.
func (l *linker) waitsFor(s *spec.Stage, done map[string]bool) string {
	for _, port := range slices.Sorted(maps.Keys(s.Inputs)) {
		for _, r := range s.Inputs[port] {
			if !done[r.Stage] && l.byID[r.Stage] != nil {
				return r.Stage
			}
		}
	}
	return ""
}

func (l *linker) cycle(done map[string]bool) string {
	var place string
	for i := range l.spec.Stages {
		if id := l.spec.Stages[i].ID; !done[id] {
			place = id
			break
		}
	}
	seen := map[string]int{}
	var path []string
	for {
		if start, again := seen[place]; again {
			return strings.Join(append(path[start:], place), " reads ")
		}
		seen[place] = len(path)
		path = append(path, place)
		place = l.waitsFor(l.byID[place], done)
	}
}

func (l *linker) fault(s *spec.Stage, port *pipeline.Port, found, accepted, hint string) {
	l.bad[s.ID] = true
	l.faults = append(l.faults, l.spec.Fault("stages."+s.ID+"."+port.Key(), found, accepted, hint))
}

func (l *linker) ids() []string {
	ids := []string{pipeline.DatasetID}
	for _, s := range l.spec.Stages {
		ids = append(ids, s.ID)
	}
	return ids
}

func (l *linker) names() string { return strings.Join(l.ids(), ", ") }

func (l *linker) fitting(port *pipeline.Port) string {
	var fit []string
	for _, s := range l.spec.Stages {
		for _, out := range s.Kind.Out {
			if port.Takes(out.Form) {
				fit = append(fit, pipeline.Ref{Stage: s.ID, Port: out.Name}.String())
			}
		}
	}
	if len(fit) == 0 {
		return "; no stage of this spec does"
	}
	return ", such as " + strings.Join(fit, ", ")
}

func outNames(k *pipeline.Kind) string {
	names := make([]string, len(k.Out))
	for i, p := range k.Out {
		names[i] = p.Name
	}
	return strings.Join(names, ", ")
}
