// Command weir runs declarative pipelines that release differentially private
// synthetic tables. A file named by one word is the command of that name (root.go
// lists them); COMMAND_PART.go is a part of one, arg_*.go is what several commands
// take and out_*.go how they print.
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
	go stopAt(signals, cancel)
	s := streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, build: build}
	s.terminal = isTerminal(os.Stdin) && isTerminal(os.Stderr)
	return execute(ctx, s, os.Args[1:])
}

// growing changes the allocator of Arrow, before anything asks for it.
func growing() { arrow.DefaultAllocator = table.Growing{Allocator: arrow.DefaultAllocator} }

// stopAt ends the work in good order at the first Ctrl-C or SIGTERM. The second does
// what it does to any program: a system call that blocks, such as a write to a pipe
// that nobody reads, does not end in good order.
func stopAt(signals chan os.Signal, cancel context.CancelFunc) {
	<-signals
	signal.Stop(signals)
	fmt.Fprintln(os.Stderr, "weir: stopping; press Ctrl-C again to end at once")
	cancel()
}
