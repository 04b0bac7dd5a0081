//go:build long

package graphical

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/stages/internal/columns"
	"weir/train/graphical"
)

// TestCoverageOfAdult writes the table of docs/measured.md: how many 95 % intervals hold
// the count of the confidential table, over 20 releases of Adult at epsilon 1 (delta
// 1e-5, replace_one: mu .26805, a multiplier of 2/mu), for cells of at least 100 rows.
//
//	go test -tags long -run CoverageOfAdult -v -timeout 1h ./stages/model/graphical
func TestCoverageOfAdult(t *testing.T) {
	in := adult(t)
	c := coverage{t: t, hits: map[string]*tally{}}
	releases := byte(20)
	if testing.Short() { // the slice of .ci/run: one release says little of shares, and much of the code
		releases = 1
	}
	for key := range releases {
		m := attempt{stage: marginalTreeKind().New(), in: in, multiplier: 2 / .26805, key: key, workers: 2}.model(t)
		c.look(m, in, rand.New(rand.NewPCG(1, uint64(key))))
		t.Logf("after %d releases: %s", key+1, c.String())
	}
	if testing.Short() {
		return
	}
	for what, least := range map[string]float64{"measured pairs, measured": .94, "single columns, measured": .94,
		"single columns, combined": .93} {
		if got := c.hits[what]; got == nil || got.share() < least {
			t.Errorf("%s: %v, must be at least %g", what, got, least)
		}
	}
	if got := c.hits["measured pairs, drawn from one model"]; got == nil || got.share() > .6 {
		t.Errorf("tables drawn from one model cover %v: they must not", got)
	}
}

type tally struct{ in, all int }

func (x *tally) share() float64 { return float64(x.in) / float64(x.all) }

func (x *tally) String() string { return fmt.Sprintf("%.3f of %d", x.share(), x.all) }

type coverage struct {
	t     *testing.T
	hits  map[string]*tally
	codes [][]uint16
	sizes []int
}

func (c *coverage) String() string {
	var list []string
	for what, x := range c.hits {
		list = append(list, what+": "+x.String())
	}
	slices.Sort(list)
	return strings.Join(list, "; ")
}

func (c *coverage) look(m *released, in pipelinetest.Input, rng *rand.Rand) {
	read, err := columns.ReadCodes(c.t.Context(), pipeline.FromRecords(in.Header, in.Rows), m.grids)
	must(c.t, err)
	c.codes, c.sizes = read.Columns, m.Model.Domain
	c.cells(m, read)
	for j := range m.Columns {
		to := m.Columns[j].codeOf()
		for i, cell := range c.codes[j] {
			c.codes[j][i] = to[cell]
		}
	}
	u := m.uncertainty()
	u.many, u.workers = 15, 2
	u.random = func(purpose string) *rand.Rand { return rand.New(rand.NewPCG(rng.Uint64(), uint64(len(purpose)))) }
	draws := u.draws(c.t)
	for name, sets := range c.sets(m, rng) {
		for _, set := range sets {
			if _, err := m.model.Marginal(set); err != nil {
				continue // too large to be found by elimination
			}
			e, err := u.bestEstimates(c.t.Context(), set)
			if err != nil {
				continue
			}
			c.count(name+", "+[]string{"measured", "combined", "model"}[e.basis], e)
			refit, err := u.modelled(c.t.Context(), set)
			if err != nil {
				continue
			}
			c.count(name+", copies fitted again", refit)
			c.count(name+", drawn from one model", c.spread(set, draws))
		}
	}
}

// sets returns the sets of each row of the table.
func (c *coverage) sets(m *released, rng *rand.Rand) map[string][]graphical.Set {
	out := map[string][]graphical.Set{}
	for j := range m.Columns {
		out["single columns"] = append(out["single columns"], graphical.Set{j})
	}
	known := map[string]bool{}
	for _, x := range m.Measured {
		if len(x.Columns) == 2 {
			out["measured pairs"] = append(out["measured pairs"], x.Columns)
			known[fmt.Sprint(x.Columns)] = true
		}
	}
	for len(out["other pairs"]) < 12 {
		a, b := rng.IntN(len(m.Columns)), rng.IntN(len(m.Columns))
		if set := (graphical.Set{a, b}); a < b && !known[fmt.Sprint(set)] {
			out["other pairs"] = append(out["other pairs"], set)
		}
	}
	for len(out["triples"]) < 12 {
		list := rng.Perm(len(m.Columns))[:3]
		slices.Sort(list)
		out["triples"] = append(out["triples"], list)
	}
	return out
}

// cells counts the exact intervals of single cells and nodes of trees.
func (c *coverage) cells(m *released, read *columns.Codes) {
	for _, x := range m.Measured {
		if len(x.Columns) > 1 {
			continue
		}
		j := x.Columns[0]
		fine := make([]float64, m.Columns[j].Cells+1)
		for _, cell := range read.Columns[j] {
			fine[cell+1]++
		}
		for i := range fine[1:] {
			fine[i+1] += fine[i]
		}
		if x.Cells == nil && len(x.Y) != m.Columns[j].Cells {
			continue
		}
		for k := range x.Y {
			lo, hi := k, k+1
			if x.Cells != nil {
				lo, hi = x.Cells[k][0], x.Cells[k][1]
			}
			low, high := x.interval(k)
			c.hit("single columns, measured", fine[hi]-fine[lo], low, high)
		}
	}
}

func (c *coverage) hit(what string, truth, low, high float64) {
	if truth < 100 {
		return
	}
	if c.hits[what] == nil {
		c.hits[what] = &tally{}
	}
	c.hits[what].all++
	if low <= truth && truth <= high {
		c.hits[what].in++
	}
}

func (c *coverage) count(what string, e estimates) {
	truth, err := countedWhole(c.codes, c.sizes, [][]int{e.set}, 2)
	must(c.t, err)
	for k, n := range truth[0] {
		c.hit(what, float64(n), e.low[k], e.high[k])
	}
}

// draws returns 15 tables from the one model, as many rows as were measured.
func (u *uncertainty) draws(t *testing.T) [][][]uint16 {
	var list [][][]uint16
	for i := range 15 {
		list = append(list, u.model.Sample(int(u.Model.Total), false, rand.New(rand.NewPCG(9, uint64(i)))))
	}
	return list
}

func (c *coverage) spread(set graphical.Set, draws [][][]uint16) estimates {
	e := estimates{set: set}
	var sums, squares []float64
	for _, codes := range draws {
		counts, err := countedWhole(codes, c.sizes, [][]int{set}, 2)
		must(c.t, err)
		if sums == nil {
			sums, squares = make([]float64, len(counts[0])), make([]float64, len(counts[0]))
		}
		for k, n := range counts[0] {
			sums[k] += float64(n)
			squares[k] += float64(n) * float64(n)
		}
	}
	n := float64(len(draws))
	for k := range sums {
		mean := sums[k] / n
		e.add(mean, math.Sqrt(max(squares[k]/n-mean*mean, 0)*n/(n-1)))
	}
	return e
}
