package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// paint colours text where a person reads it on a terminal and has not set
// NO_COLOR (no-color.org); elsewhere it is left as it is.
func paint(w io.Writer, code, text string) string {
	if !coloured(w, os.Getenv) {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// SGR codes.
const (
	bold = "1"
	red  = "31;1"
)

func coloured(w io.Writer, env func(string) string) bool {
	f, ok := w.(*os.File)
	return ok && env("NO_COLOR") == "" && env("TERM") != "dumb" && isTerminal(f)
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
