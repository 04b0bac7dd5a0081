package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// opener returns the command that opens a file in the program which people read it with.
func opener(system string) []string {
	switch system {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"cmd", "/c", "start", ""}
	}
	return []string{"xdg-open"}
}

// patience is how long an opener may take to fail; one that is still at work has become a browser.
const patience = 3 * time.Second

// showPage opens a page whose path has been printed. Where nothing opens it a note says so: who has the path needs no
// more.
func showPage(ctx context.Context, notes io.Writer, page string) {
	command := opener(runtime.GOOS)
	c := exec.CommandContext(context.WithoutCancel(ctx), command[0], append(command[1:], page)...)
	if err := c.Start(); err != nil {
		fmt.Fprintf(notes, "note: nothing opens the page here (%s is not there)\n", command[0])
		return
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			fmt.Fprintf(notes, "note: nothing opened the page (%s: %v)\n", strings.TrimSpace(strings.Join(command, " ")), err)
		}
	case <-time.After(patience):
	}
}
