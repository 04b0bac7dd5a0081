// Package bitmath has functions of numbers as package math does, with equal bits on every
// machine: no product is fused with a sum, and nothing is left to a processor but the
// operations that IEEE 754 rounds exactly (docs/design/bits.md).
//
// Exp and Log are table-driven (Tang 1989 and 1990, ACM Transactions on Mathematical
// Software 15 and 16): an argument is reduced, without an error that counts, to the
// nearest entry of a table, and a short polynomial does the rest. The tables, and the
// polynomials with proven bounds on their errors, are written by gen. Each function is
// computed as an unrounded sum of two floats and rounded once, so it errs by little more
// than half a unit in the last place.
package bitmath

//go:generate go run ./gen
