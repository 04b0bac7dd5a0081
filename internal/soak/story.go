package main

import (
	"slices"

	"weir/pipeline"
	"weir/pipeline/compile"
)

// story is two runs of one spec on one dataset, and what its steward does in between. Everything that is
// proven of one run holds for what it meets; a story asks whether it holds for both together.
type story struct {
	what    string
	moved   bool // the rows stand in another order, and the unit that changes somewhere else
	edited  bool // a row of another unit has other values
	declare bool // the second run declares another version
	fresh   bool // the second run draws new noise
	out     bool // the second run has a folder of runs of its own
	lost    bool // the second run has another name, and uses what is left of what the first one paid for
	trials  bool // the runs are trials of one experiment
}

// stories lists what happens between two runs.
func stories() []story {
	return append(anew(), []story{
		{what: "the rows in another order", moved: true},
		{what: "the rows in another order, declared", moved: true, declare: true},
		{what: "an edited row", edited: true},
		{what: "an edited row and another order, declared", moved: true, edited: true, declare: true},
		{what: "trials of an experiment", trials: true},
		{what: "trials of an experiment, --fresh", trials: true, fresh: true},
	}...)
}

// anew lists the stories in which the second run draws noise anew, all of it or a part, over the same rows.
func anew() []story {
	return []story{
		{what: "--fresh", fresh: true},
		{what: "--fresh with another --out", fresh: true, out: true},
		{what: "another --out", out: true},
		{what: "a part of what was paid for lost, with the key", lost: true},
	}
}

// parted reports whether a plan parts rows by secret draws that have passed noise.
func parted(plan *compile.Plan) bool {
	noisy := map[string]bool{}
	for _, s := range plan.Steps {
		before := false
		for _, refs := range s.Inputs {
			before = before || slices.ContainsFunc(refs, func(r pipeline.Ref) bool { return noisy[r.Stage] })
		}
		if before && s.Work.Secret {
			return true
		}
		noisy[s.ID] = before || len(s.Spends) > 0
	}
	return false
}

// refused reports whether the second run has to be refused, on either table: the version means other
// content, and something was charged under it.
func (s story) refused(charged bool) bool { return charged && !s.declare && (s.moved || s.edited) }

// second returns the two tables that the second run meets. They are neighbours as the first two are, and
// differ from them in rows that both share, so that content is new in both worlds.
func (s story) second(c chance, w *world) pair {
	p := w.pair
	p.one, p.other = slices.Clone(p.one), slices.Clone(p.other)
	common, mine, theirs := parts(p)
	if s.edited && len(common) > 0 {
		old := common[c.IntN(len(common))]
		current := c.row(w.columns, pick(c, typical, high, low))
		if w.unit >= 0 {
			current[w.unit] = old[w.unit]
		}
		for _, list := range [][][]string{common, p.one, p.other} {
			exchange(list, old, current)
		}
	}
	if s.moved {
		c.Shuffle(len(common), func(i, j int) { common[i], common[j] = common[j], common[i] })
		at := pick(c, 0, len(common), c.IntN(len(common)+1))
		p.one, p.other = insert(common, mine, at, false), insert(common, theirs, at, false)
	}
	return p
}

// parts tells the rows that two tables share from the rows of the unit that changes.
func parts(p pair) (common, mine, theirs [][]string) {
	for _, r := range p.one {
		if hasRow(p.other, r) {
			common = append(common, r)
		} else {
			mine = append(mine, r)
		}
	}
	for _, r := range p.other {
		if !hasRow(p.one, r) {
			theirs = append(theirs, r)
		}
	}
	return common, mine, theirs
}

// hasRow reports whether a row, not one like it, is in a table.
func hasRow(rows [][]string, row []string) bool {
	return slices.ContainsFunc(rows, func(r []string) bool { return &r[0] == &row[0] })
}

func exchange(rows [][]string, old, current []string) {
	for i := range rows {
		if &rows[i][0] == &old[0] {
			rows[i] = current
		}
	}
}
