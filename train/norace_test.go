//go:build !race

package train

const raced = false
