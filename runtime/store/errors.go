package store

import "errors"

// ErrLocked means that another process holds a run.
var ErrLocked = errors.New("another process is working on it")

// ErrInternal is what a panic while rows are made or stored comes to: its words may
// quote them.
var ErrInternal = errors.New("an internal error of weir, not of the spec; please report it")
