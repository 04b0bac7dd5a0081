//go:build unix

package main

import (
	"os/signal"
	"strconv"
	"syscall"
)

// limitFiles makes writes beyond n bytes of a file fail, like a full disk.
func limitFiles(n string) {
	size, err := strconv.ParseUint(n, 10, 64)
	if err != nil {
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: size}); err != nil {
		panic(err)
	}
}
