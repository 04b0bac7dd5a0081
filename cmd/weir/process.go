//go:build !packaging

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	arrow "github.com/apache/arrow/go/v15/arrow/memory"

	"weir/runtime/table"
)

func main() { os.Exit(program(build)) }

// program runs the command line of this process and returns its exit code.
func program(build func() string) int {
	growing()
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(signals, syscall.SIGHUP)
	}
	go stopAt(signals, cancel)
	s := streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, build: build}
	s.terminal, s.columns = isTerminal(os.Stdin) && isTerminal(os.Stderr), columnsOf(os.Stdout)
	return execute(ctx, s, os.Args[1:])
}

// growing changes the allocator of Arrow, before anything asks for it.
func growing() { arrow.DefaultAllocator = table.Growing{Allocator: arrow.DefaultAllocator} }

// stopAt ends the work in good order at the first Ctrl-C or SIGTERM, or when its terminal is closed. The second ends
// the process at once, as it does any program: a system call that blocks, such as a write to a pipe that nobody reads,
// never ends in good order.
func stopAt(signals chan os.Signal, cancel context.CancelFunc) {
	<-signals
	signal.Stop(signals)
	fmt.Fprintln(os.Stderr, "weir: stopping; press Ctrl-C again to end at once")
	cancel()
}
