// Package metric gathers the figures that compare a synthetic table with real
// rows, as pure functions: see its folders distance, marginal, association,
// projection, detection and disclosure. Tests of all of them against the
// reference values of testdata/golden stand here.
package metric
