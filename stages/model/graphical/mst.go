package graphical

import (
	"context"
	"fmt"
	"math"
	"slices"

	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/train/graphical"
)

// MST measures every column and a spanning tree of pairs, and fits a graphical model
// to all of them.
//
// Input: a private table of plain columns, stability rows(c). Mechanism: integer
// Gaussian noise on histograms of columns and of the pairs of the tree; the pairs are
// chosen one after the other by exponential mechanisms. Sensitivity: a histogram moves
// by 1 (add_remove) or sqrt(2) (replace_one) in L2, the L1 distance of a pair from
// independence by 1 or 2. Adjacency: either. Guarantee: as for one Gaussian mechanism
// (mechanism.GaussianFilter) and of as many exponential mechanisms of one epsilon as
// the tree has pairs, a number that is public, composed. Candidates and noise follow
// from what was released. Reference: McKenna, Miklau, Sheldon 2021.
type MST struct {
	Aim             `yaml:",inline"`
	Columns         `yaml:",inline"`
	Size            `yaml:",inline"`
	Shares          `yaml:",inline"`
	NoiseMultiplier float64 `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"Noise of the whole stage as one Gaussian mechanism of sensitivity 1 and equal rho; calibrated to the budget by default."`
}

// Shares divides the budget of a kind that measures columns, then chooses sets, then
// measures those.
type Shares struct {
	OneWay float64 `yaml:"one_way" json:"one_way" min:"1e-6" exclusiveMax:"1" doc:"Part of the budget (of rho) for columns on their own."`
	Select float64 `yaml:"select" json:"select" min:"1e-6" exclusiveMax:"1" doc:"Part of the rest for choices; what then is left measures what was chosen."`
}

const (
	mstName = "mst"
	// choicesName is the mechanism by which a stage chooses, where it is not of one
	// filter with what is measured.
	choicesName = "choices"
)

func mstKind() pipeline.Kind {
	return pipeline.Kind{
		Name: mstName, Version: 5, Late: true,
		Doc: "Graphical model of a spanning tree of pairs (MST). Measures noisy histograms of all columns and of a " +
			"spanning tree of pairs, chosen by how far each is from " +
			"independence, and releases the graphical model that fits them " +
			"(McKenna, Miklau, Sheldon 2021; winner of NIST's challenge of 2018). Use it to compare with what others publish; " +
			"marginal_tree measures more pairs with the same budget. " +
			"Takes the table as it is after cleaning, neither cut nor encoded, of stability rows(c).",
		In: tableIn(), Out: modelOut(),
		Readers: readers(),
		New: func() pipeline.Stage {
			return &MST{Aim: Aim{TargetWeight: 2}, Size: Size{MaxModelSize: 40}, Shares: Shares{OneWay: 0.333, Select: 0.5}}
		},
	}
}

// Plan prices the histograms as one Gaussian mechanism and the choices beside it.
func (s *MST) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	ps := problems(h, s.Columns, s.Aim, s.Size)
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	l := layoutOf(h.Domain)
	pairs, _ := l.pairs(s.Aim)
	chosen := int64(steps(len(l.core.Columns), pairs))
	w := oneEvent(h, s.NoiseMultiplier, fmt.Sprintf("noisy marginals of columns (numbers in rounds) and of %d pairs",
		chosen), s.run)
	w.Decide = warned(l, h)
	if chosen == 0 {
		return w, nil
	}
	w.Spends[0].Mechanism = func(scale float64) privacy.Mechanism {
		return mechanism.GaussianFilter{NoiseMultiplier: scale / math.Sqrt(1-s.choices()), Adjacency: h.Terms.Adjacency,
			Largest: mostMove}
	}
	w.Spends = append(w.Spends, pipeline.Spend{Name: choicesName, Doc: "the pairs of a spanning tree",
		Mechanism: func(scale float64) privacy.Mechanism {
			return choices(scale/math.Sqrt(s.choices()), h.Terms.Adjacency, distanceMoves(), chosen)
		}})
	return w, nil
}

// choices returns the part of rho for choices.
func (s Shares) choices() float64 { return float64((1 - s.OneWay) * s.Select) }

// choices returns n exponential mechanisms with the rho of a Gaussian of the given noise.
func choices(multiplier float64, a privacy.Adjacency, d mechanism.Moves, n int64) privacy.Mechanism {
	square := mechanism.GaussianFilter{NoiseMultiplier: multiplier, Adjacency: a}.Total()
	return mechanism.Exponential{Scores: mechanism.Scores{Epsilon: min(2*math.Sqrt(square/float64(n)), mostEpsilon),
		Adjacency: a, Moves: d, Candidates: privacy.AnyNumber, Selections: n}}
}

// distanceMoves bounds how far the L1 distance of a histogram from a table of integers
// that earlier releases made moves.
func distanceMoves() mechanism.Moves { return scoreMoves(1) }

func (s *MST) run(ctx context.Context, env *pipeline.Env, t pipeline.Table) (pipeline.Table, error) {
	f, p, err := begin(ctx, env, t, 0)
	if err != nil {
		return pipeline.Table{}, err
	}
	pairs, weights := f.layout.pairs(s.Aim)
	part := s.OneWay
	if len(pairs) > 0 {
		part /= 1 - s.choices()
	}
	if err := f.singles(ctx, p, s.Columns, p.total()*part); err != nil {
		return pipeline.Table{}, err
	}
	if err := s.pairs(ctx, env, f, p, pairs, weights); err != nil {
		return pipeline.Table{}, err
	}
	f.counted()
	m, err := f.fit(ctx, s.limits(), env.Workers)
	if err != nil {
		return pipeline.Table{}, err
	}
	return f.release(mstName, t.Header, m, s.MaxModelSize)
}

// pairs chooses the tree and measures it, with equal noise; a pair that the model has
// no room for is left out.
func (s *MST) pairs(ctx context.Context, env *pipeline.Env, f *front, p *balance, pairs []graphical.Set,
	weights []float64) error {
	if len(pairs) == 0 {
		return f.again(ctx, p)
	}
	tree, err := s.tree(ctx, env, f, pairs, weights)
	if err != nil {
		return err
	}
	stored := graphical.Grow(f.sizes(), slices.Concat(alone(len(f.columns)), tiedSets(f.rules)), tree, s.limits())
	if len(stored) == 0 {
		return f.again(ctx, p)
	}
	each := p.left() / float64(len(stored))
	list := make([]bargain, len(stored))
	for i, at := range stored {
		list[i] = bargain{tree[at], each}
	}
	return f.measure(ctx, p, list)
}

// tree chooses a spanning tree by the weighted L1 distances of pairs from the model of
// independent columns. Weights are public; over the largest, the distances move no
// further than distanceMoves.
func (s *MST) tree(ctx context.Context, env *pipeline.Env, f *front, pairs []graphical.Set,
	weights []float64) ([]graphical.Set, error) {
	paid, err := env.Privacy.Open(choicesName)
	if err != nil {
		return nil, err
	}
	counts, err := f.columnCounts(ctx, s.limits(), env.Workers)
	if err != nil {
		return nil, err
	}
	scores, unit := make([]float64, len(pairs)), 1/largest(weights)
	err = f.each(ctx, pairs, func(i int, pair []int64) error {
		scores[i] = weights[i] * unit * float64(distance(pair, counts[pairs[i][0]], counts[pairs[i][1]]))
		return nil
	})
	if err != nil {
		return nil, err
	}
	places, err := spanning(len(f.columns), pairs, func(candidates []int) (int, error) {
		return mechanism.Select(paid, pick(scores, candidates))
	})
	tree := make([]graphical.Set, len(places))
	for i, at := range places {
		tree[i] = pairs[at]
	}
	return tree, err
}

func largest(x []float64) float64 {
	most := x[0]
	for _, v := range x {
		most = max(most, v)
	}
	return most
}

// alone returns the sets of one column each.
func alone(columns int) []graphical.Set {
	sets := make([]graphical.Set, columns)
	for c := range sets {
		sets[c] = graphical.Set{c}
	}
	return sets
}

// parts says which columns pairs have joined so far.
type parts []int

func newParts(columns int) parts {
	p := make(parts, columns)
	for c := range p {
		p[c] = c
	}
	return p
}

func (p parts) partOf(column int) int {
	for p[column] != column {
		column = p[column]
	}
	return column
}

func (p parts) joins(s graphical.Set) bool { return p.partOf(s[0]) != p.partOf(s[1]) }

func (p parts) join(s graphical.Set) { p[p.partOf(s[1])] = p.partOf(s[0]) }

// steps returns how many pairs a spanning forest of the pairs has: the columns less the
// parts that the pairs join them to. It is public.
func steps(columns int, pairs []graphical.Set) (n int) {
	p := newParts(columns)
	for _, s := range pairs {
		if p.joins(s) {
			p.join(s)
			n++
		}
	}
	return n
}

// spanning returns the tree of Kruskal's algorithm where each next pair is chosen, by pick,
// among those that join two parts. pick returns the place in what it is given.
func spanning(columns int, pairs []graphical.Set, pick func(candidates []int) (int, error)) (tree []int, err error) {
	p := newParts(columns)
	for range steps(columns, pairs) {
		var candidates []int
		for i, s := range pairs {
			if p.joins(s) {
				candidates = append(candidates, i)
			}
		}
		pos, err := pick(candidates)
		if err != nil {
			return nil, err
		}
		if pos < 0 || pos >= len(candidates) {
			return nil, fmt.Errorf("choice of a pair: is %d, must be from 0 to %d", pos, len(candidates)-1)
		}
		tree = append(tree, candidates[pos])
		p.join(pairs[candidates[pos]])
	}
	return tree, nil
}
