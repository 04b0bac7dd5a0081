// Package pipeline is the vocabulary of stages: kinds and their ports, headers and
// domains, tables, what a stage will do and may touch, and the plan that it is shown.
// Reading specs is in spec, planning them in compile, printing plans in show. None of
// them does I/O, starts a goroutine, reads a clock or draws randomness.
package pipeline
