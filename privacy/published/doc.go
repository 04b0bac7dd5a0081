// Package published computes the epsilons that papers and their programs print,
// by their own arithmetic, and beside them what can be proven for the same
// algorithms. Claims says of each where it comes from and on what condition it
// holds; a published number is never a guarantee of weir's (docs/accounting.md).
package published
