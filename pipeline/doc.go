// Package pipeline is the contract of stages: kinds with their ports and figures, headers and tables, what a
// stage will do and may touch, and the plan that it is shown. What is publicly known of a table is in domain.
// Reading specs is in spec, planning them in compile, printing plans in show. None of them does I/O, starts a
// goroutine, reads a clock or draws randomness.
package pipeline
