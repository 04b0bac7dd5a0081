// Package privacy holds the vocabulary of differential privacy that the rest of
// weir speaks: events (what a mechanism did, as plain data), adjacency (what a
// change of one unit means), the interfaces of accountants and of payers.
//
// The arithmetic lives below it: account (accountants and calibration), pld
// (privacy loss distributions), published (the arithmetic of papers, kept apart
// from proven bounds), noise (keys, streams, samplers), mechanism (selection,
// quantiles, partitions) and ledger.
package privacy
