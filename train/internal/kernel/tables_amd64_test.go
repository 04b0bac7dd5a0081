package kernel

import "golang.org/x/sys/cpu"

func tables() []*table {
	all := []*table{generic()}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		all = append(all, avx2())
		if cpu.X86.HasAVX512F {
			all = append(all, avx512())
		}
	}
	return all
}
