// Command soak looks for what no one has listed: it makes random specs over all
// kinds, runs each that compiles on two neighbouring tables with one key and the
// mechanisms' outputs frozen, and fails on any difference that anyone may see and on
// inputs of a mechanism that move by more than is paid for (docs/design/soak.md).
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"weir/stages"
)

func main() {
	duration := flag.Duration("duration", time.Minute, "how long to look")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of all choices")
	only := flag.Int64("only", -1, "run this case alone")
	from := flag.Uint64("from", 0, "first case")
	out := flag.String("out", "soak-findings", "folder for what is found")
	most := flag.Int("most", 20, "stop after so many findings")
	flag.Parse()
	if err := run(*duration, *seed, *only, *from, *out, *most); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func run(duration time.Duration, seed uint64, only int64, from uint64, out string, most int) error {
	debug.SetGCPercent(400) // schemas and pictures leave much behind, and tables are small
	reg, err := stages.Registry()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "weir-soak")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := &soak{seed: seed, dir: dir, reg: reg, cover: newCoverage()}
	fmt.Printf("soak: seed %d\n", seed)
	found, began := 0, time.Now()
	n := from
	if only >= 0 {
		n, duration = uint64(only), 0
	}
	for last := began; ; n++ {
		f, err := s.try(n)
		if err != nil {
			return err
		}
		if f != nil {
			found++
			if err := s.report(f, out); err != nil {
				return err
			}
		}
		if time.Since(last) > 5*time.Minute {
			last = time.Now()
			fmt.Printf("after %s, %d findings: ", time.Since(began).Round(time.Second), found)
			s.cover.table(os.Stdout, reg)
		}
		if time.Since(began) >= duration || found >= most {
			break
		}
	}
	fmt.Printf("soak: %s, cases %d to %d, %d findings\n", time.Since(began).Round(time.Second), from, n, found)
	s.cover.table(os.Stdout, reg)
	if found > 0 {
		return fmt.Errorf("%d findings, in %s", found, out)
	}
	return nil
}
