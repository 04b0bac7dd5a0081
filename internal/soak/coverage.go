package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"weir/pipeline"
)

// coverage counts what the soak has tried.
type coverage struct {
	specs, accepted, ran, failed, paid, measured, refusedStages, triedStages int
	kinds                                                                    map[string]*kindCount
	// of runs that fail alike on both tables
	errors map[string][]uint64
	// of these: compared once more, cut down to what failed; or not at all
	again, uncompared int
	// told, and with a second run that ended well
	stories map[string][2]int
}

type kindCount struct {
	tried, accepted, ran int
	nearest              float64 // to its stated sensitivity
}

func newCoverage() *coverage {
	return &coverage{kinds: map[string]*kindCount{}, errors: map[string][]uint64{}, stories: map[string][2]int{}}
}

func (c *coverage) kind(name string) *kindCount {
	if c.kinds[name] == nil {
		c.kinds[name] = &kindCount{}
	}
	return c.kinds[name]
}

// tried counts a stage, which err refuses.
func (c *coverage) tried(kind string, err error) {
	c.triedStages++
	c.kind(kind).tried++
	if err == nil {
		c.kind(kind).accepted++
	} else {
		c.refusedStages++
	}
}

// run counts an accepted spec that was run on both tables.
func (c *coverage) run(number uint64, o *outcome, measured int, nearest float64) {
	plan := o.plan
	c.ran++
	for i := range plan.Steps {
		if o.err == nil {
			c.kind(plan.Steps[i].Kind).ran++
		}
		c.paid += len(plan.Steps[i].Spends)
	}
	c.measured += measured
	for i := range plan.Steps {
		if len(plan.Steps[i].Spends) > 0 && measured > 0 && !math.IsInf(nearest, 1) {
			k := c.kind(plan.Steps[i].Kind)
			k.nearest = max(k.nearest, nearest)
		}
	}
	if o.err != nil {
		c.failed++
		c.errors[o.err.Error()] = append(c.errors[o.err.Error()], number)
	}
}

// story counts two runs of a spec.
func (c *coverage) story(what string, well bool) {
	n := c.stories[what]
	if n[0]++; well {
		n[1]++
	}
	c.stories[what] = n
}

// table shows the counts, each kind of the registry with a line.
func (c *coverage) table(w io.Writer, reg *pipeline.Registry) {
	fmt.Fprintf(w, "specs started %d, accepted %d, run on two tables %d (failing alike %d, of which %d were run once "+
		"more without what ran beside the failure, and %d could not be compared); stages tried %d, refused %d; paid "+
		"mechanisms %d, inputs compared of %d\n",
		c.specs, c.accepted, c.ran, c.failed, c.again, c.uncompared, c.triedStages, c.refusedStages, c.paid, c.measured)
	fmt.Fprintf(w, "%-28s %8s %8s %8s\n", "kind", "tried", "accepted", "run")
	for _, name := range reg.Names() {
		n := c.kind(name)
		fmt.Fprintf(w, "%-28s %8d %8d %8d", name, n.tried, n.accepted, n.ran)
		if n.nearest > 0 {
			fmt.Fprintf(w, "  reached %.4f of its sensitivity", n.nearest)
		}
		fmt.Fprintln(w)
	}
	for _, what := range slices.Sorted(maps.Keys(c.stories)) {
		fmt.Fprintf(w, "%6d stories, %d with a second run that ended well: %s\n", c.stories[what][0], c.stories[what][1],
			what)
	}
	for _, text := range slices.Sorted(maps.Keys(c.errors)) {
		fmt.Fprintf(w, "%6d runs failed alike, first case %d: %s\n", len(c.errors[text]), c.errors[text][0],
			strings.ReplaceAll(text, "\n", " "))
	}
}
