// Package compile turns a spec into a plan: stages linked and typed, mechanisms
// priced, noise calibrated and the bill added up. It opens no data.
package compile
