package graphical

import (
	"context"
	"fmt"
	"math"
	"slices"

	"weir/pipeline/domain"
	"weir/train/graphical"
)

// candidate is a set of columns that a kind may measure, and what it is worth.
type candidate struct {
	set    graphical.Set
	weight float64
}

// mostCandidates is how many sets are scored in a round.
const mostCandidates = 5000

// workload lists the marginals that matter: the marginals of the aim, else all triples of
// columns, or all pairs where triples would have more subsets than mostCandidates.
// Those with the target count target_weight times.
func (s Aim) workload(d *domain.Domain) []candidate {
	var list []candidate
	for _, w := range s.Workload {
		var set graphical.Set
		for _, name := range w.Columns {
			set = append(set, d.Index(name))
		}
		slices.Sort(set)
		weight := w.Weight
		if weight == 0 {
			weight = 1
		}
		list = append(list, candidate{slices.Compact(set), weight})
	}
	if len(s.Workload) == 0 {
		list = everySet(len(d.Columns))
	}
	target := d.Index(s.Target)
	for i := range list {
		if slices.Contains(list[i].set, target) {
			list[i].weight *= s.TargetWeight
		}
	}
	return list
}

// everySet returns all triples of the given number of columns, or fewer columns where those are too few
// or triples too many.
func everySet(columns int) []candidate {
	size := 3
	if columns+pairsOf(columns)+columns*(columns-1)*(columns-2)/6 > mostCandidates {
		size = 2
	}
	var list []candidate
	for _, s := range subsets(first(columns), min(size, columns)) {
		list = append(list, candidate{s, 1})
	}
	return list
}

func pairsOf(columns int) int { return columns * (columns - 1) / 2 }

func first(n int) graphical.Set {
	s := make(graphical.Set, n)
	for c := range s {
		s[c] = c
	}
	return s
}

// subsets lists the subsets of the given number of columns, in order.
func subsets(set graphical.Set, size int) []graphical.Set {
	if size == 0 {
		return []graphical.Set{{}}
	}
	var list []graphical.Set
	for i := 0; i+size <= len(set); i++ {
		for _, rest := range subsets(set[i+1:], size-1) {
			list = append(list, append(graphical.Set{set[i]}, rest...))
		}
	}
	return list
}

// closure returns every set of columns inside a marginal of the workload, each worth what
// the workload's marginals share with it: their weights times the number of columns
// in common (McKenna, Mullins, Sheldon, Miklau 2022). Beyond mostCandidates it ends.
func closure(workload []candidate) []candidate {
	list := inside(workload)
	for i := range list {
		for _, w := range workload {
			list[i].weight += float64(w.weight * float64(shared(list[i].set, w.set)))
		}
	}
	slices.SortFunc(list, func(a, b candidate) int { return slices.Compare(a.set, b.set) })
	return list
}

func inside(workload []candidate) (list []candidate) {
	seen := map[string]bool{}
	for size := 1; ; size++ {
		more := false
		for _, w := range workload {
			more = more || size < len(w.set)
			for _, s := range subsets(w.set, min(size, len(w.set))) {
				if key := fmt.Sprint(s); !seen[key] {
					seen[key], list = true, append(list, candidate{set: s})
				}
				if len(list) > mostCandidates {
					return list
				}
			}
		}
		if !more {
			return list
		}
	}
}

// countNamed returns how many columns are in some marginal.
func countNamed(workload []candidate) int {
	var all graphical.Set
	for _, w := range workload {
		all = append(all, w.set...)
	}
	slices.Sort(all)
	return len(slices.Compact(all))
}

// shared returns how many columns two ascending sets have in common.
func shared(a, b graphical.Set) (n int) {
	for _, c := range a {
		if _, found := slices.BinarySearch(b, c); found {
			n++
		}
	}
	return n
}

// fitting lists the candidates that a junction tree within limits can hold beside what
// is measured already; those inside a measured set always can.
func fitting(sizes []int, measured []graphical.Set, list []candidate, limits graphical.Limits) []int {
	var retained []int
	for i, c := range list {
		inside := slices.ContainsFunc(measured, func(m graphical.Set) bool { return shared(c.set, m) == len(c.set) })
		if inside || len(graphical.Grow(sizes, measured, []graphical.Set{c.set}, limits)) > 0 {
			retained = append(retained, i)
		}
	}
	return retained
}

// ranking chooses by distances that Gaussian noise was added to: the distances of all
// candidates once, then in each round the distances of the ones that seem best.
type ranking struct {
	*course
	found map[int]float64 // of a candidate: its distance, as it was released last
}

// rescored is how many candidates each round looks at once more.
const rescored = 16

// next returns the best of the candidates that were looked at again. The first round
// looks at all of them besides, for half of what it may spend.
func (r *ranking) next(ctx context.Context, open []int, sigma, squares float64) (int, error) {
	if r.found == nil {
		r.found = map[int]float64{}
		squares /= 2
		if err := r.ask(ctx, first(len(r.list)), squares); err != nil {
			return 0, err
		}
	}
	order := slices.Clone(open)
	slices.SortStableFunc(order, func(a, b int) int { return descending(r.gain(a, sigma), r.gain(b, sigma)) })
	order = order[:min(len(order), rescored)]
	if err := r.ask(ctx, order, squares); err != nil {
		return 0, err
	}
	best := order[0]
	for _, at := range order {
		if r.gain(at, sigma) > r.gain(best, sigma) {
			best = at
		}
	}
	r.found[best] = 0 // what is measured is known
	return best, nil
}

// gain returns what is known of a candidate, beyond what noise would give. Nothing is known
// of one that the model could not tell.
func (r *ranking) gain(pos int, sigma float64) float64 {
	found, ok := r.found[pos]
	if !ok {
		return math.Inf(-1)
	}
	return r.list[pos].weight * (found - r.noise(pos, sigma))
}

// ask releases the distances of some candidates, all in one.
func (r *ranking) ask(ctx context.Context, places []int, squares float64) error {
	open, found, err := r.distances(ctx, places)
	if err != nil {
		return err
	}
	y, err := r.p.scores(found, squares)
	if err != nil {
		return err
	}
	for _, at := range places {
		delete(r.found, at)
	}
	for i, at := range open {
		r.found[at] = y.Y[i]
	}
	return nil
}
