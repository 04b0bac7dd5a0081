package graphical

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/train/graphical"
)

// Independent measures every column on its own.
//
// Input: a private table of plain columns, stability rows(c). Mechanism: integer
// Gaussian noise on histograms of columns. Sensitivity: each moves by 1 (add_remove)
// or sqrt(2) (replace_one) in L2. Adjacency: either. Guarantee: as for one Gaussian
// mechanism (mechanism.GaussianFilter). Reference: docs/marginals.md.
type Independent struct {
	Columns         `yaml:",inline"`
	NoiseMultiplier float64 `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"Noise of the whole stage as one Gaussian mechanism of sensitivity 1; calibrated to the budget by default."`
}

const independentName = "independent"

func independentKind() pipeline.Kind {
	return pipeline.Kind{
		Name: independentName, Version: 5, Late: true,
		Doc: "Measures a noisy histogram of each column and releases the model in which columns are independent. " +
			"Use it as the floor that other models have to beat, and where rows are so few that noise drowns every pair. " +
			"Takes the table as it is after cleaning, neither cut nor encoded, of stability rows(c).",
		In: tableIn(), Out: modelOut(),
		Readers: readers(),
		New:     func() pipeline.Stage { return &Independent{} },
	}
}

// Plan prices the whole stage as one Gaussian mechanism.
func (s *Independent) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	ps := problems(h, s.Columns, Aim{}, Size{defaultSize})
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	work, l := oneEvent(h, s.NoiseMultiplier, "noisy marginals of columns (numbers in rounds)", s.run), layoutOf(h.Domain)
	work.Decide = func(scale float64) pipeline.Decision { return s.decide(l, factsOf(l.header(h), 0, scale)) }
	return work, nil
}

func (s *Independent) decide(l layout, f facts) pipeline.Decision {
	return pipeline.Decision{Decided: slices.Concat(l.decided(), f.counts(), f.bins(s.Columns, l.core)),
		Findings: f.flags(l, 1)}
}

func (s *Independent) run(ctx context.Context, env *pipeline.Env, t pipeline.Table) (pipeline.Table, error) {
	f, p, err := begin(ctx, env, t, 0)
	if err != nil {
		return pipeline.Table{}, err
	}
	return s.learn(ctx, env, f, p, t.Header)
}

// learn releases the columns once, and what heaps left over once more.
func (s *Independent) learn(ctx context.Context, env *pipeline.Env, f *front, p *balance,
	h pipeline.Header) (pipeline.Table, error) {
	if err := f.singles(ctx, p, s.Columns, p.total()); err != nil {
		return pipeline.Table{}, err
	}
	if err := f.again(ctx, p); err != nil {
		return pipeline.Table{}, err
	}
	f.counted()
	m, err := f.fit(ctx, graphical.DefaultLimits(), env.Workers)
	if err != nil {
		return pipeline.Table{}, err
	}
	return f.release(independentName, h, m, defaultSize)
}

// Fixed is a set of columns that is measured whatever the noise says, so that the noise of its counts has no part in
// the choice of the set: unfitted counts (signed ones, as they are listed) have a mean of what was counted.
type Fixed struct {
	Columns []string `yaml:"columns" json:"columns" required:"true" minItems:"2" doc:"Columns that are counted together."`
	Part    float64  `yaml:"part" json:"part" required:"true" min:"1e-6" exclusiveMax:"1" doc:"Part of the budget (of mu^2) for the set."`
}

// Sets are the sets of columns that a kind measures ahead of all noise.
type Sets struct {
	Measure []Fixed `yaml:"measure,omitempty" json:"measure,omitempty" doc:"Sets of columns that are measured whatever the noise says, before pairs are chosen. Their released counts are unfitted, and marked as fixed in the listing."`
}

// fixedPart returns the part of the budget for all fixed sets.
func (s Sets) fixedPart() (sum float64) {
	for _, m := range s.Measure {
		sum += m.Part
	}
	return sum
}

// spendDoc returns what the bill says of the sets.
func (s Sets) spendDoc() string {
	if len(s.Measure) == 0 {
		return ""
	}
	return ", of the sets of measure"
}

// fixedSets returns the columns of each fixed set, derived ones being those that they follow from.
func (s *MarginalTree) fixedSets(l layout) []graphical.Set {
	var sets []graphical.Set
	for _, m := range s.Measure {
		var set graphical.Set
		for _, name := range l.roots(m.Columns) {
			set = append(set, l.core.Index(name))
		}
		slices.Sort(set)
		sets = append(sets, set)
	}
	return sets
}

// checkFixed adds a problem for each fixed set that the table lacks, that says nothing of its own, that stands twice or
// that the model cannot hold: all that may be known before a row is read.
func (s *MarginalTree) checkFixed(d *domain.Domain, ps *schema.Problems) {
	l, known := layoutOf(d), true
	for i, m := range s.Measure {
		path := fmt.Sprintf("measure[%d].columns", i)
		before := len(*ps)
		d.Pick(ps, path, m.Columns)
		if len(*ps) > before {
			known = false
		} else if roots := l.roots(m.Columns); len(roots) < 2 {
			ps.Add(path, strings.Join(m.Columns, ", ")+", all of which follow from "+roots[0],
				"columns of which at least two are measured")
		}
	}
	if s.OneWay+s.Select+s.fixedPart() >= 1 {
		ps.Add("measure", fmt.Sprintf("parts of %g in all, beside one_way %g and select %g", s.fixedPart(), s.OneWay,
			s.Select),
			"so small that a part is left for columns and for pairs: all together below 1")
	}
	if !known || len(s.Measure) == 0 {
		return
	}
	sets := s.fixedSets(l)
	for i := range sets {
		if slices.ContainsFunc(sets[:i], func(other graphical.Set) bool { return slices.Equal(other, sets[i]) }) {
			ps.Add(fmt.Sprintf("measure[%d].columns", i), strings.Join(s.Measure[i].Columns, ", "),
				"a set that none above it is")
		}
	}
	rules, _ := domain.ReadRules(l.core)
	sizes := s.mostSizes(l.core, rules)
	if _, err := graphical.NewTree(sizes, append(tiedSets(rules), sets...), s.limits()); err != nil {
		ps.Add("measure", "sets that max_model_size may not hold together: "+err.Error(),
			"sets of fewer columns, edges with fewer bins, or a larger max_model_size")
	}
}

// mostSizes bounds the codes of each column.
func (s *MarginalTree) mostSizes(d *domain.Domain, rules []domain.Rule) []int {
	sizes := make([]int, len(d.Columns))
	for j, c := range d.Columns {
		sizes[j] = s.mostCodes(c) + len(edgesOf(d, rules, j))
		if c.Nullable && !c.Type.Coded() {
			sizes[j]++
		}
	}
	return sizes
}

// sayFixed says on the plan what the fixed sets are counted with.
func (s *MarginalTree) sayFixed(f facts, l layout) (list []pipeline.Decided) {
	rules, _ := domain.ReadRules(l.core)
	sizes := s.mostSizes(l.core, rules)
	for i, set := range s.fixedSets(l) {
		list = append(list, pipeline.Decided{Setting: fmt.Sprintf("measure[%d]", i),
			Value: fmt.Sprintf("noise of %s rows a cell", digits(f.move/(f.mu*math.Sqrt(s.Measure[i].Part)))),
			Why: fmt.Sprintf("%s, at most %d cells, for %g of the budget, fixed ahead of all noise",
				strings.Join(s.Measure[i].Columns, ", "), cellsIn(sizes, set), s.Measure[i].Part)})
	}
	return list
}

// fixed releases the histogram of each fixed set for its part of the total.
func (s *MarginalTree) fixed(ctx context.Context, f *front, p *balance) error {
	sets := s.fixedSets(f.layout)
	return f.each(ctx, sets, func(i int, counts []int64) error {
		if err := f.keep(p, sets[i], counts, p.total()*s.Measure[i].Part); err != nil {
			return err
		}
		f.measured[len(f.measured)-1].Fixed = true
		return nil
	})
}

// unfixed returns the weights of pairs, without those that a fixed set holds.
func unfixed(pairs []graphical.Set, weights []float64, fixed []graphical.Set) []float64 {
	rest := slices.Clone(weights)
	for i, pair := range pairs {
		for _, set := range fixed {
			if slices.Contains(set, pair[0]) && slices.Contains(set, pair[1]) {
				rest[i] = 0
			}
		}
	}
	return rest
}
