// Command weir runs declarative pipelines that release differentially private
// synthetic tables. A file named by one word is the command of that name (root.go
// lists them); COMMAND_PART.go is a part of one, arg_*.go is what several commands
// take and out_*.go how they print.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := execute(ctx, streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}, os.Args[1:])
	stop()
	os.Exit(code)
}
