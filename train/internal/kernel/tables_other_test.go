//go:build !amd64

package kernel

func tables() []*table { return []*table{generic()} }
