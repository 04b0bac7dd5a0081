//go:build long

package stattest

// Long widens the tests that an ordinary run takes a slice of: every round, case and fault.
const Long = true
