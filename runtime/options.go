package runtime

import (
	cryptorand "crypto/rand"
	"io"
	"log/slog"
	"math/rand/v2"
	goruntime "runtime"
	"sync"
	"time"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/noise"
	"weir/runtime/payment"
	"weir/runtime/store"
)

// Options holds what a run needs beside its plan.
type Options struct {
	Ran      func()            // called when a run of an experiment has ended; nil: nobody counts
	RunsDone int               // of the same experiment, in calls before: progress counts on from them
	Disk     disk.Disk         // where all of a run is written; the zero value is the machine's
	Out      string            // folder of all runs; a run lives in Out/NAME/ID
	Dir      string            // folder of the spec; its relative paths start here
	Confine  bool              // paths may not leave Dir, through .. or links
	Ledger   string            // file of the ledger; "" is beside the dataset
	Workers  int               // stages and goroutines at a time; results do not depend on it
	Counting pipeline.Counting // where models of marginals take their counts from; results do not depend on it
	Repeat   int               // which repeat of an experiment; each is a run of its own
	Fresh    bool              // draw new noise even where a finished run of the same spec and data exists
	DropKey  bool              // do not keep the noise key: nobody can replay or subtract the noise
	Insecure *uint64           // noise from a seed, for tests: NOT PRIVATE
	// draw the noise of an earlier run again: nothing is charged, and the result goes nowhere but Out
	Replay   *Replay
	Locked   func(Data) error // refuses data other than a weir.lock names, before anything begins; nil accepts all
	Probe    Probe            // looks on at every mechanism, in tests only: noise is from a seed, or Random is
	Version  string           // of the program, for the record
	Commit   string           // of git, at which the spec stands as it is run, for the record; "" where it does not
	Build    string           // digest of the program: an interrupted run is continued by the same one only
	Log      *slog.Logger     // never receives a private value
	Progress Reporter
	// called as rows are read to tell which dataset they are, known behind that; nil: nobody is told
	Looking func(dataset string) (known func())
	Clock   func() time.Time
	Random  io.Reader // of the operating system

	// asked once, before anything is charged, with a quote for each dataset; after an error nothing is. Nil: nobody is
	// asked
	Confirm func([]payment.Quote) error

	locking bool // a lock is being written, which has its own word for other content

	seen  *payment.Seen // of the runs that trials look at
	told  *notices      // what trials have told of their data; nil: nothing
	turns *store.Turns  // of the trials of an experiment
	// of the filters of caps, by dataset (sourceKey), which the trials of an experiment fix together
	orders map[string]float64
}

// Replay is an earlier run, done again.
type Replay struct {
	Key     noise.Key
	Earlier map[string]*payment.Earlier // stages that have the noise of runs before it
	Out     string                      // folder of all runs that the earlier one lies in
	Dir     string                      // of the earlier run: its internal folder says which content it read
}

// Probe gives the probe of a stage's mechanisms.
type Probe func(stage string) privacy.Probe

// probe returns nil where noise is secret: nobody looks on.
func (o Options) probe() Probe {
	if _, seeded := o.Random.(*rand.ChaCha8); !seeded && o.Insecure == nil {
		return nil
	}
	return o.Probe
}

// owners returns the folder of runs that knows the datasets.
func (o Options) owners() string {
	if o.Replay != nil {
		return o.Replay.Out
	}
	return o.Out
}

// notices is what the owner was told already.
type notices struct {
	mu    sync.Mutex
	notes map[string]bool
}

// tell tells the owner how rows are read; the trials of an experiment tell each note once.
func (o Options) tell(note string) {
	if o.told != nil {
		o.told.mu.Lock()
		defer o.told.mu.Unlock()
		if o.told.notes[note] {
			return
		}
		o.told.notes[note] = true
	}
	o.Log.Warn(note)
}

// Reporter hears how a run goes on. Calls may come from several goroutines.
type Reporter interface {
	Start(stage, kind string)
	Resumed(stage string, done, total int64)  // an attempt before had done so much; at most once, before Progress
	Progress(stage string, done, total int64) // total 0: unknown
	End(stage string, reused bool, err error)
}

// Local returns the options of a run by a Go program on this machine: it writes below out, draws noise by the
// randomness of the operating system, uses all processors, charges without asking, and tells nobody how it goes on.
func Local(out string) Options {
	return Options{Out: out, Workers: goruntime.GOMAXPROCS(0), Log: slog.New(slog.DiscardHandler), Progress: quiet{},
		Clock: time.Now, Random: cryptorand.Reader}
}

// quiet is a Reporter that tells nobody.
type quiet struct{}

func (quiet) Start(string, string)          {}
func (quiet) Resumed(string, int64, int64)  {}
func (quiet) Progress(string, int64, int64) {}
func (quiet) End(string, bool, error)       {}

// UsageError is a mistake of who asked: what was named cannot be read as what it was named for, or does not fit the
// rest of what was asked.
type UsageError struct{ err error }

func (e *UsageError) Error() string { return e.err.Error() }
func (e *UsageError) Unwrap() error { return e.err }

// Misused returns err as a UsageError; nil stays nil.
func Misused(err error) error {
	if err == nil {
		return nil
	}
	return &UsageError{err}
}
