// Package posterior is the mixture model of Jalko, Lagus, Tan, Honkela 2021 (Privacy-
// preserving data sharing via probabilistic modelling): components of independent columns,
// by unconstrained parameters; its likelihood, of which train learns a posterior, its prior,
// and rows of its posterior predictive.
//
// A mixture of K components has the parameters: K-1 logits of the weights (the last is 0),
// then for each component, for each column in order: a Bernoulli column 1 logit; a categorical
// one of c values c-1 logits (the last is 0); a Beta one log a, log b; a normal one mean,
// log standard deviation; a Poisson one log rate.
package posterior
