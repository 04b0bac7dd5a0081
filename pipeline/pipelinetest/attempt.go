package pipelinetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"testing"

	"weir/pipeline"
	"weir/pipeline/bill"
	"weir/pipeline/neighbour"
	"weir/privacy/noise"
)

// Learner is a kind that reads one table, in, and releases a model, with quick settings.
type Learner struct {
	Kind   pipeline.Kind
	Stage  func() pipeline.Stage
	Beside map[string]Input // what it reads besides, by port, such as a detector
	Kinds  []pipeline.Kind  // whose models and detectors it reads
}

// Attempt is one run of a learner: who pays, and what interrupted attempts leave.
type Attempt struct {
	Ledger *Ledger
	States [][]byte // the checkpoints that it wrote
	Resume []byte   // the one that it continues from; nil: none
	beside map[string]Input
	kinds  []pipeline.Kind
}

// Pays plans an attempt at noise multiplier 1.5, under one key.
func (l Learner) Pays(t *testing.T, in Input) *Attempt {
	t.Helper()
	h := pipeline.Headers{"in": in.Header}
	for port, b := range l.Beside {
		h[port] = b.Header
	}
	w, err := l.Stage().Plan(h)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := bill.Price(&l.Kind, h, w, 1.5, in.Header.Terms.Adjacency)
	if err != nil {
		t.Fatal(err)
	}
	return &Attempt{Ledger: &Ledger{Key: noise.Key{4, 5, 6}, Plan: plan}, beside: l.Beside, kinds: l.Kinds}
}

// Trained returns an attempt from the start to the model.
func (l Learner) Trained(t *testing.T, in Input) (pipeline.Table, *Attempt) {
	t.Helper()
	a := l.Pays(t, in)
	model, err := a.Run(t, l.Stage(), in)
	if err != nil {
		t.Fatal(err)
	}
	return model, a
}

// Run carries a stage out, and closes its ledger: every mechanism opened once, and used as
// planned.
func (a *Attempt) Run(t *testing.T, s pipeline.Stage, in Input) (pipeline.Table, error) {
	t.Helper()
	env := Env(2, a.kinds...)
	env.Privacy = a.Ledger
	env.Create = func(string) (io.WriteCloser, error) { return &checkpoint{to: a}, nil }
	env.Restore = func(string) (io.ReadCloser, error) {
		if a.Resume == nil {
			return nil, fs.ErrNotExist
		}
		return io.NopCloser(bytes.NewReader(a.Resume)), nil
	}
	tables := pipeline.Tables{"in": Artifact(in.Header, in.Rows)}
	for port, b := range a.beside {
		tables[port] = Artifact(b.Header, b.Rows)
	}
	out, err := Run(t, s, env, tables)
	if err == nil {
		err = a.Ledger.Close()
	}
	return out["model"], err
}

// checkpoint is kept when it is closed.
type checkpoint struct {
	bytes.Buffer
	to *Attempt
}

func (c *checkpoint) Close() error {
	c.to.States = append(c.to.States, c.Bytes())
	return nil
}

// Resumes fails unless the learner writes so many checkpoints and gives, from each of them, by
// a payer who knows that its noise was drawn, the same model and the checkpoints that follow.
func (l Learner) Resumes(t *testing.T, in Input, checkpoints int) {
	t.Helper()
	whole, a := l.Trained(t, in)
	if len(a.States) != checkpoints {
		t.Fatalf("%s: %d checkpoints, must be %d", l.Kind.Name, len(a.States), checkpoints)
	}
	for i, state := range a.States {
		again := l.Pays(t, in)
		again.Resume, again.Ledger.Drawn = state, 1<<40
		resumed, err := again.Run(t, l.Stage(), in)
		if err != nil {
			t.Fatal(err)
		}
		if len(again.States) != checkpoints-1-i || !bytes.Equal(Bytes(t, whole), Bytes(t, resumed)) {
			t.Errorf("%s: a run resumed from checkpoint %d writes %d more or gives another model", l.Kind.Name, i,
				len(again.States))
		}
	}
}

// Bytes returns all that the files of a released model hold.
func Bytes(t *testing.T, model pipeline.Table) []byte {
	t.Helper()
	files, err := pipeline.ReadFiles(t.Context(), model)
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(files)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// checkProgress checks that what a stage reports is of one total that it keeps, never more than all of
// it, and all of it at the end. A stage that samples rows learns in many steps, and says
// where it stands.
func checkProgress(t reporter, c Case) {
	o := c.recorded(1)
	if o.err != nil {
		return // checkOutputs says so
	}
	for _, fault := range o.sight.progressFaults() {
		t.Errorf("progress: %s: %s", o.sight.reports(), fault)
	}
	if len(o.sight.progress) == 0 && learns(o.ledger.Plan, c) {
		t.Error("a stage that learns from samples of rows reports no progress")
	}
}

// learns reports whether a stage pays for samples.
func learns(plan []pipeline.Planned, c Case) bool {
	for _, p := range plan {
		if neighbour.Sampled(p.Value, c.adjacency()) {
			return true
		}
	}
	return false
}

func (s *sight) progressFaults() (faults []string) {
	ends := len(s.progress) == 0
	for at := range s.progress {
		done, total := at[0], at[1]
		switch {
		case total <= 0 || done < 0 || done > total:
			faults = append(faults, fmt.Sprintf("%d of %d is not a share", done, total))
		case total != s.last[1]:
			faults = append(faults, fmt.Sprintf("the total is %d at first and %d at the end", total, s.last[1]))
		}
		ends = ends || done == total
	}
	if !ends {
		faults = append(faults, "the end is not reached")
	}
	return faults
}
