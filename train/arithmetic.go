package train

import "weir/train/internal/kernel"

// Arithmetic names the implementation of the kernels that this processor runs. The
// vector widths give the same bits, the generic one others, so it is part of what a
// run was computed with.
func Arithmetic() string {
	if level := kernel.Level(); level == "generic" {
		return level
	}
	return "vector"
}
