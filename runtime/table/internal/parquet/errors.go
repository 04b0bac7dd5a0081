package parquet

import "errors"

// UnreadableError is an error of the disk, not of the file's form.
type UnreadableError struct{ Err error }

func (u UnreadableError) Error() string { return u.Err.Error() }
func (u UnreadableError) Unwrap() error { return u.Err }

// UnsupportedError is sound Parquet of a kind that is not read.
type UnsupportedError struct{ error }

var errTypes = errors.New("is a damaged Parquet file: a column has a type that the format does not define for the way in which it is stored")

var errIndex = errors.New("is a damaged Parquet file: its index points outside of it or contradicts itself")

// errLarger is a chunk with more cells than the footer says.
var errLarger = errors.New("a row group has more rows than the footer says")
