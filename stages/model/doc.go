// Package model holds the kinds that learn a private table under a budget, and
// the kind sample that draws rows from what they release.
package model
