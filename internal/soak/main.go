// Command soak looks for what no one has listed: it makes random specs over all
// kinds, runs each that compiles on two neighbouring tables with one key and the
// mechanisms' outputs frozen, and fails on any difference that anyone may see and on
// inputs of a mechanism that move by more than is paid for. Its subcommand pairs does so with
// two runs of each spec, and kills ends small runs at random moments (docs/design/soak.md).
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"weir/runtime"
	"weir/stages"
)

// options are the flags.
type options struct {
	duration time.Duration
	seed     uint64
	only     int64
	out      string
	most     int
	pairs    bool
}

func main() {
	var o options
	flag.DurationVar(&o.duration, "duration", time.Minute, "how long to search")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "seed of all choices")
	flag.Int64Var(&o.only, "only", -1, "run this case alone")
	flag.StringVar(&o.out, "out", "soak-findings", "folder for what is found")
	flag.IntVar(&o.most, "most", 20, "stop after this many findings")
	search := func() error { return o.run() } // with what the flags say
	if len(os.Args) > 1 && os.Args[1] == "kills" {
		search = func() error { return runKills(os.Args[2:]) }
	} else if o.pairs = len(os.Args) > 1 && os.Args[1] == "pairs"; o.pairs {
		flag.CommandLine.Parse(os.Args[2:])
	} else {
		flag.Parse()
	}
	if err := search(); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func (o options) run() error {
	debug.SetGCPercent(400) // schemas and pictures leave much behind, and tables are small
	reg, err := runtime.Registry(stages.Kinds())
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "weir-soak")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("soak: seed %d\n", o.seed)
	s := &soak{seed: o.seed, dir: dir, reg: reg, cover: newCoverage(), pairs: o.pairs}
	if o.only >= 0 {
		return o.look(s, uint64(o.only), 0)
	}
	return o.look(s, 0, o.duration)
}

// tell is how often the counts are shown.
const tell = 5 * time.Minute

// look tries cases from n on until time is up.
func (o options) look(s *soak, n uint64, duration time.Duration) error {
	began, output, found := time.Now(), time.Now(), 0
	for ; ; n++ {
		f, err := s.try(n)
		if err == nil && f != nil {
			found++
			err = s.report(f, o.out)
		}
		if err != nil {
			return err
		}
		upper := time.Since(began) >= duration || found >= o.most
		if upper || time.Since(output) > tell {
			output = time.Now()
			fmt.Printf("soak: %s, up to case %d, %d findings\n", time.Since(began).Round(time.Second), n, found)
			s.cover.table(os.Stdout, s.reg)
		}
		if upper {
			break
		}
	}
	if found > 0 {
		return fmt.Errorf("%d findings, in %s", found, o.out)
	}
	return nil
}
