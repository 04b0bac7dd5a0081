//go:build !long

package stattest

// Long is set by -tags long (CONTRIBUTING.md).
const Long = false
