package pipelinetest

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"weir/pipeline"
	"weir/privacy/noise"
)

// checkPairs: two runs of one plan, as trials of an experiment carry it out, on a table and then on the same
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
	first := carryOut(context.Background(), c, work, plan, manner{key: 1, probe: NewFrozen()})
	second, alone := NewFrozen(), NewFrozen()
	after := carryOut(context.Background(), later, work, plan, manner{key: 2, probe: second, env: ofAnother})
	fresh := observe(context.Background(), later, manner{key: 2, probe: alone, env: ofAnother})
	if first.err != nil || fmt.Sprint(after.err) != fmt.Sprint(fresh.err) {
		if fmt.Sprint(after.err) != fmt.Sprint(fresh.err) {
			t.Errorf("a plan that was carried out before ends with %v, a fresh one with %v: it remembers its first run", after.err, fresh.err)
		}
		return
	}
	for _, fault := range append(remembered(t, after, fresh), second.unlike(alone)...) {
		t.Errorf("carried out before on the rows in another order: %s", fault)
	}
}

// turned is the case with the rows of each private table the other way round, rows of one unit or shard
// as near to each other as they were.
func (c Case) turned() Case {
	for _, port := range c.tablePorts() {
		in := c.In[port]
		if in.Header.Class != pipeline.Private {
			continue
		}
		lines := keepAll(int(in.Rows.NumRows()))
		slices.Reverse(lines)
		c = c.with(port, edited(in, lines))
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

// unlike lists uses whose inputs are others than those that f saw.
func (f *Frozen) unlike(other *Frozen) (faults []string) {
	for _, at := range f.Uses() {
		if is, ok := other.uses[at]; !ok || fmt.Sprint(is.In) != fmt.Sprint(f.uses[at].In) {
			faults = append(faults, fmt.Sprintf("%s: what goes in is not what a fresh plan puts in: the plan remembers its first run", at))
		}
	}
	return faults
}
