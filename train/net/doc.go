// Package net builds neural nets from plain data and differentiates them by hand:
// forward, backward, per-example squared gradient norms without a per-example
// gradient (ghost norms), weighted sums of per-example gradients, and forward
// tangents for the gradient penalty.
//
// A Net is a shape. Its weights are one flat []float32 that the caller owns, in
// the order of Net.Tensors, so an optimiser, a clip or a noise draw is one pass
// over one slice. A Pass holds the activations of up to a fixed number of rows;
// one goroutine uses a Pass at a time, and one Net serves any number of them.
//
// Every matrix of activations carries a last column of ones, so that the bias is
// the last row of a weight matrix and sits inside the matrix products; every
// matrix of gradients carries a last column of zeros.
package net
