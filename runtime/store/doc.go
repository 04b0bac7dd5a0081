// Package store is all that a run leaves on disk: atomic files and locks, the folder of a
// run, and the cache of stage outputs. It knows addresses and bytes, not why they are kept.
package store
