package pipelinetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"weir/pipeline"
	"weir/pipeline/neighbour"
	"weir/privacy"
	"weir/privacy/noise"
)

// checkPaid checks that a stage that pays does what it pays for. Its mechanisms are opened and
// used as planned, draw noise of the planned scale, and what is released follows
// from that noise.
func checkPaid(t reporter, c Case) {
	work, plan, err := c.planned()
	if err != nil {
		t.Fatalf("plan: %v", err)
	}
	first := c.recorded(1)
	if first.sight.secret && !work.Secret {
		t.Error("the run draws from Env.Secret, which its plan does not say")
	}
	if len(plan) == 0 {
		return
	}
	if work.Lazy {
		t.Error("a paid stage is planned as lazy: each reader would draw new noise")
	}
	if releasedPort(work) == "" {
		t.Error("a stage pays and releases nothing")
	}
	if first.err != nil {
		t.Fatalf("a paid run fails: %v", first.err)
	}
	checkUses(t, c, plan)
	checkKeys(t, c, first.outcome, plan)
}

func releasedPort(w pipeline.Work) string {
	for port, h := range w.Out {
		if h.Class == pipeline.Released {
			return port
		}
	}
	return ""
}

// checkUses checks that the plan is what is paid, and that each use drew noise and handed on what came
// out through privacy.Release.
func checkUses(t reporter, c Case, plan []pipeline.Planned) {
	o := c.recorded(1)
	if err := o.ledger.Close(); err != nil {
		t.Errorf("what was paid is not what was planned: %v", err)
	}
	for _, p := range plan {
		seen := int64(0)
		for _, place := range o.mechanisms.Uses() {
			if place.Spend != p.Name {
				continue
			}
			seen++
			if _, streams, _ := o.mechanisms.Use(place); len(streams) == 0 {
				t.Errorf("%s: took no stream: no noise of the mechanism was drawn", place)
			}
		}
		if taken := o.ledger.Taken(p.Name); seen != taken {
			t.Errorf("%s: %d of %d uses handed on what came out: the others released nothing, or past privacy.Release", p.Name,
				seen, taken)
		}
	}
}

// enough residuals find noise of half the planned scale, which has four times less
// than the expected sum of squares, with a chance of error far below falseAlarm;
// most is how many keys are tried for them.
const (
	enough = 200
	most   = 24
)

// checkKeys checks that another key gives other outputs, and the noise of all keys has the
// planned scale.
func checkKeys(t reporter, c Case, first outcome, plan []pipeline.Planned) {
	changed, missing := false, len(plan)
	noise := map[string]*residuals{}
	for _, p := range plan {
		noise[p.Name] = &residuals{}
		if _, ok := p.Value.(privacy.Additive); !ok {
			missing--
		}
	}
	for key := byte(2); key < 2+most && (!changed || missing > 0); key++ {
		o := c.recorded(key)
		changed = changed || differs(t, first, o.outcome)
		missing = collect(noise, o.mechanisms)
	}
	if !changed {
		t.Error("another key gives the same outputs: what is released has not the mechanisms' noise")
	}
	for name, r := range noise {
		if r.mechanism == nil {
			continue
		}
		for _, fault := range r.faults() {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

// collect adds the noise of a run and counts the mechanisms that lack some.
func collect(noise map[string]*residuals, probe *neighbour.Frozen) (missing int) {
	for _, at := range probe.Uses() {
		use, _, _ := probe.Use(at)
		noise[at.Spend].add(use)
	}
	for _, r := range noise {
		if r.mechanism != nil && r.count() < enough {
			missing++
		}
	}
	return missing
}

func differs(t reporter, a, b outcome) bool {
	was, is := a.released(t), b.released(t)
	for port := range was {
		if !bytes.Equal(was[port], is[port]) {
			return true
		}
	}
	return false
}

// checkPairs checks that two runs of one plan, as trials of an experiment carry it out, on a table and then on the same
// rows in another order. The second has noise and secrets of its own, as the runtime gives to rows in
// another order. What it makes and what goes into its mechanisms is what it would be without the first:
// then the inputs of both runs move, between neighbours, by no more than each pays for, since each alone
// does (checkNeighbours). A plan that remembers ties them, and the first pays for nothing of the second.
// Figures and pages, which no mechanism reads and no release holds, may cost what they cost once.
func checkPairs(t reporter, c Case) {
	later := c.turned()
	work, plan, err := c.planned()
	if err != nil || len(plan) == 0 && !givesTable(c.kind) {
		return
	}
	first := carryOut(context.Background(), c, work, plan, manner{key: 1, probe: neighbour.NewFrozen()})
	second, alone := neighbour.NewFrozen(), neighbour.NewFrozen()
	after := carryOut(context.Background(), later, work, plan, manner{key: 2, probe: second, env: ofAnother})
	fresh := observe(context.Background(), later, manner{key: 2, probe: alone, env: ofAnother})
	if first.err != nil || fmt.Sprint(after.err) != fmt.Sprint(fresh.err) {
		if fmt.Sprint(after.err) != fmt.Sprint(fresh.err) {
			t.Errorf("a plan that was carried out before ends with %v, a fresh one with %v: it remembers its first run",
				after.err, fresh.err)
		}
		return
	}
	for _, fault := range append(remembered(t, after, fresh), unlike(second, alone)...) {
		t.Errorf("carried out before on the rows in another order: %s", fault)
	}
}

// turned returns the case with the rows of each private table the other way round, rows of one unit or shard
// as near to each other as they were.
func (c Case) turned() Case {
	for _, port := range c.tablePorts() {
		in := c.In[port]
		if in.Header.Class != pipeline.Private {
			continue
		}
		lines := keepAll(int(in.Rows.NumRows()))
		slices.Reverse(lines)
		c = c.withRows(port, edited(in, lines))
	}
	return c
}

// ofAnother gives a run the secrets of another content.
func ofAnother(env *pipeline.Env) {
	source := noise.NewSource(noise.Key{1, 2, 3, 4}, "conformance, another content")
	env.Secret = func(purpose string) *noise.Stream { return stream(source, purpose) }
}

// remembered lists outputs that are others because of a run before.
func remembered(t reporter, after, fresh outcome) (faults []string) {
	for port := range fresh.records {
		if after.records[port] == nil || !bytes.Equal(encoded(t, after.records[port]), encoded(t, fresh.records[port])) {
			faults = append(faults, "output "+port+" is another than a fresh plan makes: the plan remembers its first run")
		}
	}
	return faults
}

// unlike lists the uses whose inputs differ from what a fresh plan gives.
func unlike(after, fresh *neighbour.Frozen) (faults []string) {
	for _, place := range after.Uses() {
		was, _, _ := after.Use(place)
		if is, _, ok := fresh.Use(place); !ok || fmt.Sprint(is.In) != fmt.Sprint(was.In) {
			faults = append(faults, fmt.Sprintf("%s: what goes in is not what a fresh plan puts in: the plan remembers its "+
				"first run", place))
		}
	}
	return faults
}

// Ledger is a payer for tests. It opens the mechanisms that a stage plans, each
// once, and reports at the end whether each was used as often as planned.
type Ledger struct {
	Key   noise.Key
	Plan  []pipeline.Planned // see pipeline.Price
	Probe privacy.Probe      // may be nil
	Drawn int64              // uses that an interrupted attempt had released when it left its checkpoint

	mu     sync.Mutex
	opened map[string]*privacy.Handle
	fault  error
}

// Open hands out the noise of a planned mechanism.
func (l *Ledger) Open(name string) (*privacy.Handle, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.planned(name)
	if p == nil || l.opened[name] != nil {
		err := fmt.Errorf("the mechanism %q is not planned, or opened twice", name)
		l.fault = errors.Join(l.fault, err)
		return nil, err
	}
	h := privacy.Open(privacy.Opening{Spend: name, Mechanism: p.Value, Source: noise.NewSource(l.Key, "test/"+name),
		Drawn: l.Drawn, Probe: l.Probe})
	if l.opened == nil {
		l.opened = map[string]*privacy.Handle{}
	}
	l.opened[name] = h
	return h, nil
}

func (l *Ledger) planned(name string) *pipeline.Planned {
	for i := range l.Plan {
		if l.Plan[i].Name == name {
			return &l.Plan[i]
		}
	}
	return nil
}

// Close reports whether each planned mechanism was opened and used as planned.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	errs := []error{l.fault}
	if len(l.opened) != len(l.Plan) {
		errs = append(errs, fmt.Errorf("%d of %d planned mechanisms were opened", len(l.opened), len(l.Plan)))
	}
	for _, p := range l.Plan {
		if h := l.opened[p.Name]; h != nil {
			errs = append(errs, h.Close())
		}
	}
	return errors.Join(errs...)
}

// Taken counts the uses of a mechanism so far.
func (l *Ledger) Taken(name string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.opened[name]; h != nil {
		return h.Taken()
	}
	return 0
}

// Left returns what remains of the total of a filter, for tests of stages that have to
// spend all of it.
func (l *Ledger) Left(name string) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.opened[name]; h != nil {
		return h.Left()
	}
	return 0
}
