//go:build !openblas

package kernel

func addOpenBLAS(map[string]call) {}
