//go:build !long

package main

// thorough is set by -tags long (CONTRIBUTING.md).
const thorough = false
