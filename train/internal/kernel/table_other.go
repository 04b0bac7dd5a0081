//go:build !amd64

package kernel

func choose() *table { return generic() }
