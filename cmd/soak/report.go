package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// report writes a finding into a folder of its own: the spec, both tables and what
// differs, as small as a few more runs make them.
func (s *soak) report(f *finding, out string) error {
	small := s.shrink(f)
	dir := filepath.Join(out, fmt.Sprintf("%d-%d", s.seed, f.number))
	for name, second := range map[string]bool{"one": false, "other": true} {
		if err := small.world.lay(filepath.Join(dir, name), small.spec, second); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("case %d of seed %d: go run ./cmd/soak -seed %d -only %d\n%s, under %s\n\n%s\n\nshrunk to:\n%s\n\n%s", f.number, s.seed, s.seed, f.number,
		f.world.what, f.world.adjacency, strings.Join(f.faults, "\n"), strings.Join(small.faults, "\n"), small.spec)
	fmt.Printf("FOUND %s\n", text)
	return os.WriteFile(filepath.Join(dir, "fault.txt"), []byte(text), 0o644)
}
