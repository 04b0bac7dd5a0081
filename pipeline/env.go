package pipeline

import (
	"io"
	"log/slog"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline/domain"
	"weir/privacy"
	"weir/privacy/noise"
)

// Counting says how the rows of a stage that learns nothing but counts are counted. Results do not depend on it.
type Counting string

const (
	CountByRule Counting = ""       // the stage goes by public facts
	CountHeld   Counting = "held"   // of the rows in memory
	CountPasses Counting = "passes" // in passes over the rows
)

// Env is all that a running stage may touch.
type Env struct {
	Stage string
	Plan  *Plan // of the run: its bill, for stages that say so (Work.OfPlan, OfBudget); else nil
	// Insecure says that noise comes from a seed: the run is a test, and what a
	// report shows of it must say so.
	Insecure bool
	Workers  int // goroutines that the stage may use; results must not depend on it
	Counting Counting
	Log      *slog.Logger
	// Progress reports done of total units of work; total 0 means unknown.
	Progress func(done, total int64)
	// Resumed says, before any Progress, from how much done of total units an interrupted
	// attempt is continued.
	Resumed func(done, total int64)
	// Metric records a figure that is private (a loss, a norm).
	Metric func(name string, value float64)
	// Rand is public randomness: a function of the spec's seed, the stage and
	// the purpose.
	Rand func(purpose string) *rand.Rand
	// Secret is unpaid secret randomness from the run's key, for choices whose
	// law does not depend on the data (the shard of a row). It is not noise.
	Secret func(purpose string) *noise.Stream
	// Readers read back what any kind released.
	Readers Readers
	// Privacy opens the planned mechanisms, the only way to noise.
	Privacy privacy.Payer
	Mem     memory.Allocator
	// Files opens a further table that the spec names (format by extension) and
	// checks it against the domain; class and stability are the caller's to set.
	Files func(path string, csv *CSV, d *domain.Domain) (Table, error)
	// Create opens a private file of this stage, written atomically on Close; after a write that
	// failed, Close fails too and leaves what was there.
	Create func(name string) (io.WriteCloser, error)
	// Restore opens a file that an interrupted run of the same stage created;
	// fs.ErrNotExist where there is none.
	Restore func(name string) (io.ReadCloser, error)
}
