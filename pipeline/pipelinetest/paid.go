package pipelinetest

import (
	"bytes"

	"weir/pipeline"
	"weir/privacy"
)

// checkPaid: a stage that pays does what it pays for. Its mechanisms are opened and
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

// checkUses: paid is what was planned, each use drew noise and handed on what came
// out through privacy.Release.
func checkUses(t reporter, c Case, plan []pipeline.Planned) {
	o := c.recorded(1)
	if err := o.ledger.Close(); err != nil {
		t.Errorf("what was paid is not what was planned: %v", err)
	}
	for _, p := range plan {
		seen := int64(0)
		for _, at := range o.mechanisms.Uses() {
			if at.Spend != p.Name {
				continue
			}
			if seen++; len(o.mechanisms.streams[at]) == 0 {
				t.Errorf("%s: took no stream: no noise of the mechanism was drawn", at)
			}
		}
		if taken := o.ledger.Taken(p.Name); seen != taken {
			t.Errorf("%s: %d of %d uses handed on what came out: the others released nothing, or past privacy.Release", p.Name, seen, taken)
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

// checkKeys: another key gives other outputs, and the noise of all keys has the
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
func collect(noise map[string]*residuals, probe *Frozen) (missing int) {
	for _, at := range probe.Uses() {
		noise[at.Spend].add(probe.uses[at])
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
