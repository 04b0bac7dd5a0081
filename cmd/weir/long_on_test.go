//go:build long

package main

// thorough widens the tests that an ordinary run takes a slice of: every round, case and fault.
const thorough = true
