// Package prep holds the kinds that prepare a table for a model and the way
// back from a model's numbers to the values of the source.
//
// Every kind states its effect on stability (docs/design.md section 3). Kinds that work
// row by row with public parameters are lazy: they change batches as they are
// read, in constant memory. Records they return own their memory through Go's
// garbage collector; releasing them is allowed and not needed.
package prep
