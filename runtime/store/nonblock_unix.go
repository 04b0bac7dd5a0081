//go:build unix

package store

import "syscall"

// nonblock makes the open of a pipe return without a writer.
const nonblock = syscall.O_NONBLOCK
