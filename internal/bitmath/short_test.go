//go:build !long

package bitmath

const long = false
