package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
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
	command := "soak"
	if s.pairs {
		command = "soak pairs"
	}
	text := fmt.Sprintf("case %d of seed %d: go run ./internal/%s -seed %d -only %d\n%s, under %s\n\n%s\n\nshrunk to:\n%s\n\n%s", f.number, s.seed, command, s.seed, f.number,
		f.world.what, f.world.adjacency, strings.Join(f.faults, "\n"), strings.Join(small.faults, "\n"), small.spec)
	fmt.Printf("FOUND %s\n", text)
	return os.WriteFile(filepath.Join(dir, "fault.txt"), []byte(text), 0o644)
}

// shrinkTime is what making a finding smaller may take.
const shrinkTime = 15 * time.Second

// shrink leaves out stages and rows that both tables have, while something is still
// wrong.
func (s *soak) shrink(f *finding) *finding {
	until := time.Now().Add(shrinkTime)
	for smaller := true; smaller && time.Now().Before(until); {
		smaller = false
		for i := len(f.stages) - 1; i >= 0 && time.Now().Before(until); i-- {
			if g := s.still(f.without(i)); g != nil {
				f, smaller = g, true
			}
		}
	}
	for size := len(f.world.one) / 2; size > 0 && time.Now().Before(until); size /= 2 {
		for at := 0; at+size <= min(len(f.world.one), len(f.world.other)) && time.Now().Before(until); {
			g := s.still(f.shorter(at, size))
			if g == nil {
				at += size
				continue
			}
			f = g
		}
	}
	return f
}

// still runs a smaller case; nil if it is none, or shows nothing.
func (s *soak) still(t *trial) *finding {
	if t == nil {
		return nil
	}
	if s.pairs {
		f, _ := s.tell(t)
		return f
	}
	one, other, err := s.both(t)
	if err != nil {
		return nil
	}
	if alike(one, other) {
		f, _ := s.alone(t, one, other)
		return f
	}
	return found(t, one, other)
}

// without leaves out stage i. What reads it no longer compiles.
func (t *trial) without(i int) *trial {
	if len(t.stages) == 1 {
		return nil
	}
	g := *t.gen
	g.stages = slices.Delete(slices.Clone(t.stages), i, i+1)
	return &trial{number: t.number, world: t.world, spec: g.text(), stages: g.stages, gen: &g}
}

// shorter leaves rows out that stand at one place in both tables.
func (t *trial) shorter(at, size int) *trial {
	w := *t.world
	for i := at; i < at+size; i++ {
		if !slices.Equal(w.one[i], w.other[i]) {
			return nil
		}
	}
	if w.rowsPublic > 0 {
		return nil
	}
	w.one, w.other = slices.Delete(slices.Clone(w.one), at, at+size), slices.Delete(slices.Clone(w.other), at, at+size)
	return &trial{number: t.number, world: &w, spec: t.spec, stages: t.stages, gen: t.gen}
}
