// Package graphical fits a graphical model to noisy marginals of a table and draws
// rows from it: factors over cliques of a junction tree, message passing, estimation
// from tables of unequal noise, masks of impossible cells, sampling with rounding
// by group. It is arithmetic alone: what it reads has its noise already, so whatever
// comes out is post-processing.
//
// Columns are numbered from 0; the domain of column c is its number of codes, which
// are 0 to dom[c]-1. Counts are in rows, logarithms natural. Equal input gives equal
// bits for any number of workers.
package graphical
