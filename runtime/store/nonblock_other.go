//go:build !unix

package store

// nonblock is nothing where pipes are no files.
const nonblock = 0
