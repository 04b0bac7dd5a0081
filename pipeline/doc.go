// Package pipeline holds the vocabulary of weir, Spec, Domain, Kind, Stage,
// Table, Header, Registry, and Compile, which turns a Spec into a Plan. It does
// no I/O, starts no goroutine, reads no clock and draws no randomness.
package pipeline
