// Package pipelinetest holds the conformance test that every kind runs: Check
// puts a kind through everything that the runtime and the privacy types rely on.
package pipelinetest
