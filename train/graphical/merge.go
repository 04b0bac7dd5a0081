package graphical

import (
	"fmt"
	"slices"
)

// factors are those that the fit started from and what it added, one of each set.
func (f *fitting) factors(start []factor) []factor {
	all := slices.Clone(start)
	for _, t := range f.targets {
		all = append(all, f.tree.factor(t.vars, t.log))
	}
	return merged(all)
}

// merged is the factors with those of the same set added up.
func merged(all []factor) []factor {
	at, one := map[string]int{}, []factor(nil)
	for _, x := range all {
		key := fmt.Sprint(x.vars)
		i, known := at[key]
		if !known {
			at[key], one = len(one), append(one, x)
			continue
		}
		one[i].log = slices.Clone(one[i].log)
		for k, l := range x.log {
			one[i].log[k] += l
		}
	}
	return one
}
