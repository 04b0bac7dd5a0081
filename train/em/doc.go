// Package em learns mixtures of Gaussians, one for each label, by expectation
// maximisation on noisy moments (DP-EM; Park, Foulds, Chaudhuri, Welling 2017), and
// draws from them. Rows are codes: vectors of a public dimension, clipped to a public
// radius.
package em
