// Package account bounds the privacy loss of events: Renyi (rdp), zero-
// concentrated (zcdp), moments, advanced and basic composition, all over the
// same events as privacy/pld and each with an error that wraps
// privacy.ErrUnsupported where nothing is proven.
//
// Every number that this package returns is an upper bound that a theorem
// stands behind; the arithmetic of papers that is none lives in
// privacy/published.
package account
