// Package ask holds questions to a table: a declared, checked list of counts, means,
// quantiles, histograms and covariances. The same question is asked exactly of a table
// that may be looked at, and with noise of one that may not: both tally whole numbers
// (tally.go), of which one changed row moves so many (moves.go), and both read the
// answer off them (count.go and its neighbours). What is released of them is a list of
// answers in one form (answers.go).
package ask

// Unit is what a number of size 1 is in a tally: tallies are whole numbers, so that
// their sums are exact in any order and noise on them shows no low bits. A value is
// rounded to half a unit of its column's half range at most.
const Unit = 1 << 20
