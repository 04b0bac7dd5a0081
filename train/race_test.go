//go:build race

package train

// raced: the race detector lets pools forget at random, so what a step allocates is not
// what it allocates without.
const raced = true
