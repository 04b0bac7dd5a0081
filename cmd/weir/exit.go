package main

import (
	"fmt"
	"strings"
)

// Exit codes, which scripts rely on.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitPrivacy     = 3
	exitMismatch    = 4
	exitInterrupted = 130
)

// exitMeaning is what an exit code says, whichever command ends with it.
type exitMeaning struct {
	code int
	what string
}

// exits lists the exit codes, as the help of weir and docs/stability.md have them.
func exits() []exitMeaning {
	return []exitMeaning{{exitDone, "done"}, {exitFailed, "a stage failed"}, {exitUsage, "bad spec or usage"},
		{exitPrivacy, "privacy refused or over budget"}, {exitMismatch, "verification mismatch, or a difference"},
		{exitInterrupted, "interrupted"}}
}

// exitHelp words the exit codes for the help of weir, two to a line.
func exitHelp() string {
	var b strings.Builder
	separator := "Exit codes: "
	for i, e := range exits() {
		fmt.Fprintf(&b, "%s%d %s", separator, e.code, e.what)
		separator = []string{"; ", ";\n"}[i%2]
	}
	return b.String() + "."
}
