// Package model is the table of contents of the kinds that learn a private table
// under a budget, a folder a family, and of the kind sample, which draws rows
// from what they release.
package model
