package runtime

import (
	"crypto/rand"
	"log/slog"
	goruntime "runtime"
	"time"
)

// Local returns the options of a run by a Go program on this machine: it writes below out, draws noise by the
// randomness of the operating system, uses all processors, charges without asking, and tells nobody how it goes on.
func Local(out string) Options {
	return Options{Out: out, Workers: goruntime.GOMAXPROCS(0), Log: slog.New(slog.DiscardHandler), Progress: quiet{},
		Clock: time.Now, Random: rand.Reader}
}

// quiet is a Reporter that tells nobody.
type quiet struct{}

func (quiet) Start(string, string)          {}
func (quiet) Resumed(string, int64, int64)  {}
func (quiet) Progress(string, int64, int64) {}
func (quiet) End(string, bool, error)       {}
