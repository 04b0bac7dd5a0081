package main

import (
	"fmt"
	"os"
	"path/filepath"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/runtime/files"
)

// soak tries random specs on neighbouring tables.
type soak struct {
	seed   uint64
	dir    string // where runs take place
	reg    *pipeline.Registry
	extras []extra
	brief  bool
	watch  watch // may be nil
	laid   laid  // may be nil
	cover  *coverage
	pairs  bool // two runs of each spec, on either table

	planted swapped          // faults between runs: the same secret in both,
	between func(dir string) // and what a steward does who should not
}

// trial is one case: a spec and its tables.
type trial struct {
	number uint64
	world  *world
	spec   string
	stages []stage
	gen    *generator
}

// finding is a case that shows what it must not.
type finding struct {
	*trial
	faults []string
}

// draw makes case n up. It has no spec where nothing compiles.
func (s *soak) draw(n uint64) (*trial, error) {
	c := chanceOf(s.seed, n)
	folder, err := files.OpenFolder(s.dir, false)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	g := &generator{chance: c, world: newWorld(c), reg: s.reg, folder: folder, cover: s.cover, extras: s.extras, brief: s.brief, paired: s.pairs}
	g.world.laid = s.laid
	chanceOf(^s.seed, n).rename(g.world)
	if rules := chanceOf(s.seed, ^n); !s.brief && rules.yes(0.4) { // of their own, so that cases are what they would be without
		g.world.constraints = rules.rules(g.world)
	}
	s.cover.specs++
	if !g.spec() {
		return &trial{number: n}, nil
	}
	s.cover.accepted++
	return &trial{number: n, world: g.world, spec: g.text(), stages: g.stages, gen: g}, nil
}

// try draws case n, runs it on both tables and returns what it shows; nil is
// nothing.
func (s *soak) try(n uint64) (*finding, error) {
	t, err := s.draw(n)
	if err != nil || t.spec == "" {
		return nil, err
	}
	if s.pairs {
		return s.tell(t)
	}
	one, other, err := s.both(t)
	if err != nil {
		return nil, fmt.Errorf("case %d: %w", n, err)
	}
	s.cover.run(n, one, newCoupling(t.world, one, other).measured(), other.frozen.Nearest())
	if alike(one, other) {
		return s.alone(t, one, other)
	}
	return found(t, one, other), nil
}

func found(t *trial, one, other *outcome) *finding {
	if list := faults(t.world, one, other); len(list) > 0 {
		return &finding{t, list}
	}
	return nil
}

// both runs a case on its two tables, one after the other in a folder of the same
// name, so that no path differs.
func (s *soak) both(t *trial) (one, other *outcome, err error) {
	frozen := pipelinetest.NewFrozen()
	if one, err = s.once(t, false, frozen); err != nil {
		return nil, nil, err
	}
	other, err = s.once(t, true, frozen.Neighbour())
	return one, other, err
}

func (s *soak) once(t *trial, second bool, frozen *pipelinetest.Frozen) (*outcome, error) {
	dir := filepath.Join(s.dir, "run")
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := t.world.lay(dir, t.spec, second); err != nil {
		return nil, err
	}
	return carryOut(dir, t.spec, s.reg, frozen, manner{workers: 1 + 2*int(t.number%2), again: t.number%8 == 0, watch: s.watch})
}
