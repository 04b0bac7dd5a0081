// Package masks brings the rules of a domain (pipeline/domain) to models of codes:
// which combinations of codes no row may have, where a row of the source that breaks a
// rule goes, and how values inside bins are placed so that none is broken. All of it is a
// function of public facts, released bins and, row by row, of that row alone.
package masks
