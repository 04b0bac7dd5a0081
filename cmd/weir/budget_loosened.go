package main

import (
	"fmt"

	"weir/privacy/ledger"
)

// loosened says where a spec promises less for the dataset than it did in the revision.
func loosened(key string, pairs []specPair) (all []string) {
	for _, p := range pairs {
		if p.then == nil || p.then.cap == nil || p.then.dataset != key {
			continue
		}
		for _, how := range looser(*p.then.cap, p, key, pairs) {
			all = append(all, p.path+": "+how)
		}
	}
	return all
}

// looser compares the budget of a spec with what it is now.
func looser(was ledger.Cap, p specPair, key string, pairs []specPair) []string {
	switch {
	case p.fault != "", p.now == nil && kept(was, key, pairs):
		return nil
	case p.now == nil:
		return []string{fmt.Sprintf("the budget, %s, went with the spec", capWords(was))}
	case p.now.dataset != key:
		return []string{fmt.Sprintf("names another dataset, %s, than the budget, %s, is of", p.now.shown, capWords(was))}
	case p.now.cap == nil:
		return []string{fmt.Sprintf("the budget, %s, was removed", capWords(was))}
	}
	var all []string
	is := *p.now.cap
	add := func(worse bool, format string, before, after any) {
		if worse {
			all = append(all, fmt.Sprintf(format, before, after))
		}
	}
	add(is.Epsilon > was.Epsilon, "the budget itself was raised from %v to %v", was.Epsilon, is.Epsilon)
	add(is.Delta > was.Delta, "the delta of the budget was raised from %v to %v", was.Delta, is.Delta)
	add(is.Filter != was.Filter, "the filter of the budget was changed from %v to %v", was.Filter, is.Filter)
	is.Epsilon, is.Delta = was.Epsilon, was.Delta // what is left is whom it protects
	add(is.Looser(was) && is.Unit.Column != was.Unit.Column, "the privacy unit was loosened from one %v to one %v", was.Unit, is.Unit)
	add(is.Looser(was) && is.Adjacency != was.Adjacency, "the adjacency was loosened from %v to %v", was.Adjacency, is.Adjacency)
	return all
}

// kept reports whether another spec holds the dataset to no less now.
func kept(was ledger.Cap, key string, pairs []specPair) bool {
	for _, p := range pairs {
		if p.now != nil && p.now.dataset == key && p.now.cap != nil && !p.now.cap.Looser(was) {
			return true
		}
	}
	return false
}

func capWords(c ledger.Cap) string { return fmt.Sprintf("epsilon %g at delta %g", c.Epsilon, c.Delta) }
