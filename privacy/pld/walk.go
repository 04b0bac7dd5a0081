package pld

import (
	"fmt"
	"math/bits"
	"reflect"

	"weir/privacy"
)

// leaf is count uses of an event that samples or adds noise itself. Where anyOf
// is set it stands for the worst of several, chosen anew at each use.
type leaf struct {
	event privacy.Event
	anyOf []leaf
	path  string
	count int64
}

// maxScenarios bounds the combinations of branches that are tried.
const maxScenarios = 64

// walkAll returns the scenarios of a composition: lists of leaves of which the
// worst is the answer. Several come from parallel events only.
func walkAll(events []privacy.Event, path string, count int64, adjacency privacy.Adjacency) ([][]leaf, error) {
	all := [][]leaf{nil}
	for i, e := range events {
		more, err := walk(e, fmt.Sprintf("%s[%d]", path, i), count, adjacency)
		if err != nil {
			return nil, err
		}
		if len(all)*len(more) > maxScenarios {
			return nil, unsupported(fmt.Sprintf("%s[%d]", path, i), fmt.Sprintf("more than %d combinations of parallel branches",
				maxScenarios))
		}
		all = product(all, more)
	}
	return all, nil
}

func product(a, b [][]leaf) [][]leaf {
	out := make([][]leaf, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, append(append([]leaf(nil), x...), y...))
		}
	}
	return out
}

func walk(e privacy.Event, path string, count int64, adjacency privacy.Adjacency) ([][]leaf, error) {
	switch e := e.(type) {
	case privacy.Repeated:
		hi, lo := bits.Mul64(uint64(count), uint64(e.Count))
		if hi != 0 || lo > 1<<53 {
			return nil, unsupported(path+".repeated", "more than 2^53 uses")
		}
		return walk(e.Event, path+".repeated.event", int64(lo), adjacency)
	case privacy.Composed:
		return walkAll(e.Events, path+".composed.events", count, adjacency)
	case privacy.Parallel:
		return parallel(e, path+".parallel", count, adjacency)
	}
	return [][]leaf{{{event: e, path: path, count: count}}}, nil
}

// parallel returns the scenarios of events on disjoint parts.
//
// Under add_remove one unit touches one branch; under replace_one the old and the
// new unit touch at most two, and each branch is then charged for a replacement,
// which covers a removal or an addition. A repeated parallel event may have other
// parts at every use: then the worst branch is taken at every use.
func parallel(e privacy.Parallel, path string, count int64, adjacency privacy.Adjacency) ([][]leaf, error) {
	events := e.Events
	if count > 1 && len(events) > 2 && allEqual(events) {
		events = events[:2]
	}
	branches := make([][][]leaf, len(events))
	for i, b := range events {
		var err error
		if branches[i], err = walk(b, fmt.Sprintf("%s.events[%d]", path, i), count, adjacency); err != nil {
			return nil, err
		}
	}
	if err := noFixed(branches); err != nil {
		return nil, err
	}
	if count > 1 && !allEqual(events) {
		return worstEach(branches, path, count, adjacency)
	}
	return touch(branches, path, adjacency)
}

func allEqual(events []privacy.Event) bool {
	for _, e := range events {
		if !reflect.DeepEqual(e, events[0]) {
			return false
		}
	}
	return true
}

// noFixed refuses samples of fixed size in one of several branches: a unit that
// moves to another branch changes the population, which has to be public.
func noFixed(branches [][][]leaf) error {
	for _, b := range branches {
		for _, s := range b {
			for _, l := range s {
				if _, ok := l.event.(privacy.SampledWithoutReplacement); ok && len(branches) > 1 {
					return unsupported(l.path+".sampled_without_replacement", "the size of a parallel branch is not public")
				}
			}
		}
	}
	return nil
}

// touch returns one branch (add_remove) or two (replace_one), in all ways.
func touch(branches [][][]leaf, path string, adjacency privacy.Adjacency) ([][]leaf, error) {
	var all [][]leaf
	for i, a := range branches {
		if adjacency == privacy.AddRemove || len(branches) == 1 {
			all = append(all, a...)
			continue
		}
		for _, b := range branches[i+1:] {
			all = append(all, product(a, b)...)
		}
	}
	if len(all) > maxScenarios {
		return nil, unsupported(path, fmt.Sprintf("more than %d combinations of parallel branches", maxScenarios))
	}
	if all == nil {
		return [][]leaf{nil}, nil
	}
	return all, nil
}

// worstEach returns one leaf for the worst branch at every use.
func worstEach(branches [][][]leaf, path string, count int64, adjacency privacy.Adjacency) ([][]leaf, error) {
	l := leaf{path: path, count: count}
	for _, b := range branches {
		if len(b) != 1 || len(b[0]) != 1 || b[0][0].count != count || b[0][0].anyOf != nil {
			return nil, unsupported(path, "it is repeated and has different branches that are compositions")
		}
		l.anyOf = append(l.anyOf, b[0][0])
	}
	uses := int64(1)
	if adjacency == privacy.ReplaceOne {
		uses = 2 // the worst branch twice covers any two
	}
	l.count *= uses
	return [][]leaf{{l}}, nil
}
