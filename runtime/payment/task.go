package payment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"weir/internal/disk"
	"weir/pipeline/compile"
	"weir/privacy"
	"weir/privacy/noise"
	"weir/record"
	"weir/runtime/store"
)

// Task is what a run is to do, as far as payments go: a plan on a dataset, and the names of what its stages compute.
type Task struct {
	Plan    *compile.Plan
	Dataset Dataset
	Rows    *Rows               // nil where nobody has opened the data, whose rows are then taken to be as they were
	Recipes map[string]string   // by stage, and of the dataset; public
	Repeat  int                 // of an experiment
	Build   string              // digest of the program; "" where it is not known
	Seed    *uint64             // of test noise; nil: noise is secret
	Fresh   bool                // draws new noise, whatever is paid for
	Replay  bool                // draws the noise of an earlier run again, and charges nothing
	Earlier map[string]*Earlier // in a replay, the stages that have the noise of runs before that run
}

// Rows tells apart what private rows a task reads. It stays on the owner's side.
type Rows struct {
	Source  string    // differs with the content of the dataset
	Content string    // differs with that and with the content of each further private file
	Secret  noise.Key // of draws by the order of rows
	Digest  func(ctx context.Context, file string) (string, error)
}

// readIn reports whether the run in dir read these rows; of rows that nobody has opened it is taken for granted.
func (r *Rows) readIn(dir store.RunDir) bool { return r == nil || dir.HasRead(r.Content) }

// Standing says what an earlier run of a spec is to a task of the same spec and dataset.
type Standing int

// What an earlier run can be.
const (
	Unlike     Standing = iota // of another repeat, or with noise from another seed
	OtherRows                  // it read other rows of a further private file, or does not say what it read
	OtherWork                  // finished, and at least one of its recipes is another
	Finished                   // finished, and the same in all: the task is done
	Unfinished                 // can be continued where Resume gives its key
)

// Standing compares the task with an earlier run.
func (t *Task) Standing(f Found) Standing {
	switch {
	case !t.alike(f.Record):
		return Unlike
	case !t.Rows.readIn(store.RunDir{Path: f.Path}):
		return OtherRows
	case f.Record.Status != record.Done:
		return Unfinished
	case !t.does(f.Record):
		return OtherWork
	}
	return Finished
}

// alike reports whether a run is the repeat that the task is, with noise of the same origin: one with a test seed
// continues or repeats only one of the same seed.
func (t *Task) alike(rec *record.Run) bool {
	return rec.Repeat == t.Repeat && rec.Insecure == (t.Seed != nil) &&
		(t.Seed == nil || rec.KeyCommitment == InsecureKey(*t.Seed).Commitment())
}

// does reports whether a finished run did what the task would do.
func (t *Task) does(rec *record.Run) bool {
	for _, s := range rec.Stages {
		if s.Recipe != t.Recipes[s.ID] {
			return false
		}
	}
	return len(rec.Stages) == len(t.Plan.Steps)
}

// Resume returns the key of an unfinished run which this program made and whose key was kept and is the one that its
// record commits to. The error says why the run cannot be continued.
func (t *Task) Resume(dir store.RunDir, rec *record.Run) (noise.Key, error) {
	if t.Build == "" || rec.Build != t.Build {
		return noise.Key{}, errors.New("it was made by another build of weir")
	}
	key, err := LoadKey(dir.Internal())
	switch {
	case err != nil:
		return noise.Key{}, errors.New("its noise key cannot be read")
	case key.Commitment() != rec.KeyCommitment:
		return noise.Key{}, errors.New("its noise key is not the one that its record commits to")
	case !t.sameSecret(dir):
		return noise.Key{}, errors.New("it drew its secrets by another owner file, so its noise would fall to other rows")
	}
	return key, nil
}

// secretFile holds, in the internal folder of a run, the commitment of the secret that it began with.
const secretFile = "secret"

// sameSecret reports whether a run that is continued has the secret that it began with. Its key then puts noise on
// the rows that it was for: a copy of its folder, continued where the owner's side has drawn another secret for the
// same content, splits otherwise, and would put the same noise on other rows under one charge. A plan without secret
// draws needs none.
func (t *Task) sameSecret(dir store.RunDir) bool {
	secret := func(s compile.Step) bool { return s.Work.Secret }
	if t.Rows == nil || !slices.ContainsFunc(t.Plan.Steps, secret) {
		return true
	}
	began, err := disk.ReadFile(filepath.Join(dir.Internal(), secretFile), 0)
	return err == nil && string(began) == t.Rows.Secret.Commitment()
}

// Passed is what runs of a spec that read other rows of a further private file leave to a run that passes them over.
// Where a version means one table, only such a file can have changed; so that the ledger does not tell whether it
// did, the run charges no more than it would if the file were as it was. The newest of those runs decides: a finished
// one would be shown, one that may charge nothing would be continued as such, and any other would charge what it has
// left.
type Passed struct {
	Settled bool // nothing new may be charged
	open    bool // what an interrupted run had left may be charged
}

// Over passes over a run.
func (p *Passed) Over(t *Task, f Found) {
	dir := store.RunDir{Path: f.Path}
	switch {
	case t.Dataset.Known == nil || p.Settled || p.open:
	case Settled(dir) || f.Record.Status == record.Done && t.does(f.Record):
		p.Settled = true
	case f.Record.Status != record.Done:
		p.open = t.keptKey(dir, f.Record.Build, f.Record.KeyCommitment) != nil
	}
}

// settledFile marks, in the internal folder of a run, that it may charge nothing new.
const settledFile = "charges-nothing"

// Settled reports whether the run in dir may charge nothing new.
func Settled(dir store.RunDir) bool {
	_, err := os.Lstat(filepath.Join(dir.Internal(), settledFile))
	return err == nil
}

// Attempt is a run that carries out a task.
type Attempt struct {
	ID      string
	Key     noise.Key
	Dir     store.RunDir // of the run; the zero value where it has not begun
	Again   *record.Run  // of a finished run that is made again, which may pay what that has paid; else nil
	Settled bool         // may charge nothing new
	Probe   func(stage string) privacy.Probe
}

// Keep writes to the folder of a run that has begun what it is continued by.
func (a *Attempt) Keep(t *Task) error {
	var settled error
	if a.Settled {
		settled = a.Dir.Keep(settledFile, func(io.Writer) error { return nil })
	}
	return errors.Join(settled, keepKey(a.Dir, a.Key), a.Dir.KeepContent(t.Rows.Content),
		a.Dir.Keep(secretFile, func(w io.Writer) error {
			_, err := fmt.Fprint(w, t.Rows.Secret.Commitment())
			return err
		}))
}
