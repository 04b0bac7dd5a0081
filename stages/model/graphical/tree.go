package graphical

import (
	"context"
	"fmt"
	"math"
	"slices"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/stages/internal/columns"
	"weir/train/graphical"
)

// MarginalTree measures every column and the pairs that are worth it, and fits a
// graphical model to all of them.
//
// Input: a private table of plain columns, stability rows(c). Mechanism: integer
// Gaussian noise on histograms of columns, on the distances of all pairs from
// independence, and on the histograms of pairs that are chosen from these releases,
// with noise chosen from them too; before these, on the histograms of sets that the spec
// fixes (measure). The distances are released with the model (pairBounds). Sensitivity: a histogram moves by 1
// (add_remove) or sqrt(2) (replace_one) in L2, a distance by .5 or 1. Adjacency: either.
// Guarantee: as for one Gaussian mechanism, since the squares of sensitivity over
// noise sum to its mu^2 on every path (mechanism.GaussianFilter). Model, bins and rows
// are post-processing. Reference: docs/marginals.md.
type MarginalTree struct {
	Aim             `yaml:",inline"`
	Columns         `yaml:",inline"`
	Size            `yaml:",inline"`
	Sets            `yaml:",inline"`
	OneWay          float64 `yaml:"one_way,omitempty" json:"one_way,omitempty" min:"1e-6" exclusiveMax:"1" doc:"Part of the budget (of mu^2) for columns on their own; from rows, columns (d) and noise by default: 1.4 (n mu/d)^(-1/6), from .35 to .8; .5 where rows are not public."`
	Select          float64 `yaml:"select,omitempty" json:"select,omitempty" min:"1e-6" exclusiveMax:"1" doc:"Part of the budget for the distances by which pairs are chosen; from columns, rows and noise by default, .02 to .05. The rest measures pairs."`
	NoiseMultiplier float64 `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"Noise of the whole stage as one Gaussian mechanism of sensitivity 1; calibrated to the budget by default."`
}

const treeName = "marginal_tree"

func marginalTreeKind() pipeline.Kind {
	return pipeline.Kind{
		Name: treeName, Version: 6, Late: true,
		Doc: "Graphical model of the pairs that are worth their noise. Measures noisy histograms of all columns and of the " +
			"pairs that are worth their noise, and releases the " +
			"graphical model that fits them. " +
			"Use it for tables of up to some hundred columns: it is the most accurate of the models here, in seconds. " +
			"Takes the table as it is after cleaning, neither cut nor encoded, of stability rows(c): numbers need bounds, " +
			"categories a list; missing values are a category.",
		In: tableIn(), Out: modelOut(),
		Readers: readers(),
		New: func() pipeline.Stage {
			return &MarginalTree{Aim: Aim{TargetWeight: 2}, Size: Size{MaxModelSize: defaultSize}}
		},
	}
}

func tableIn() []pipeline.Port {
	return []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "A private table, neither cut nor encoded."}}
}

func modelOut() []pipeline.Port {
	return []pipeline.Port{{Name: "model", Form: pipeline.FormModel,
		Doc: "The model, and every noisy marginal that it was fitted to."}, marginalsOut()}
}

// Plan prices the whole stage as one Gaussian mechanism.
func (s *MarginalTree) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	ps := problems(h, s.Columns, s.Aim, s.Size)
	if s.OneWay+s.Select >= 1 {
		ps.Add("select", fmt.Sprintf("%g beside one_way %g", s.Select, s.OneWay),
			"so small that a part is left to measure pairs: both together below 1")
	} else if h.Domain != nil {
		s.checkFixed(h.Domain, &ps)
	}
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	work, l := oneEvent(h, s.NoiseMultiplier, "noisy marginals of columns (numbers in rounds)"+s.spendDoc()+
		", of pairs' distances, and of chosen pairs", s.run), layoutOf(h.Domain)
	work.Decide = func(scale float64) pipeline.Decision { return s.decide(l, factsOf(l.header(h), 0, scale)) }
	return work, nil
}

// decide returns what the settings that are left open will be, each with its reason, and warnings
// where noise drowns pairs.
func (s *MarginalTree) decide(l layout, f facts) pipeline.Decision {
	out := pipeline.Decision{Decided: slices.Concat(l.decided(), f.counts(), f.bins(s.Columns, l.core)),
		Findings: f.drowned(orColumns)}
	if len(s.Measure) > 0 && !math.IsInf(f.mu, 1) {
		out.Decided = append(out.Decided, s.sayFixed(f, l)...)
	}
	single := s.settled(f)
	out.Findings = append(out.Findings, f.flags(l, single.OneWay)...)
	if !f.count || !f.known() {
		return out
	}
	if s.OneWay == 0 {
		out.Decided = append(out.Decided, f.sayOneWay(single.OneWay, s.fixedPart()))
	}
	if sets, _ := l.pairs(s.Aim); s.Select == 0 && len(sets) > 0 {
		out.Decided = append(out.Decided, pipeline.Decided{Setting: "select",
			Value: digits(single.scoring(len(sets), f.rows, f.mu*f.mu)),
			Why:   fmt.Sprintf("%d pairs of columns; n mu = %s", len(sets), digits(f.rows*f.mu))})
	}
	return out
}

// mostMove is the sensitivity of a histogram over the root of the least share of the total that a round can have: a
// millionth, the least part that a setting gives, of a part as small. A plan with so much noise that such a round would
// have none to draw is refused before it is paid for.
const mostMove = math.Sqrt2 * 1e6

// oneEvent returns the work of a stage that pays one filter for all that it measures.
func oneEvent(h pipeline.Header, multiplier float64, doc string, learn func(context.Context, *pipeline.Env,
	pipeline.Table) (pipeline.Table, error)) pipeline.Work {
	return pipeline.Work{
		Out:     pipeline.Headers{"model": modelHeader(h), "marginals": marginalsHeader(h)},
		Pricing: pipeline.Pricing{Scale: multiplier},
		Counts:  columns.NewAsking(h, func() ([]columns.Grid, error) { return gridsOf(layoutOf(h.Domain).core) }),
		Spends: []pipeline.Spend{{Name: spendName, Doc: doc, Mechanism: func(scale float64) privacy.Mechanism {
			return mechanism.GaussianFilter{NoiseMultiplier: scale, Adjacency: h.Terms.Adjacency, Largest: mostMove}
		}}},
		Run:    releasing(h, learn),
		Remark: remarked,
		Traces: traced,
	}
}

// releasing returns the run of a stage that learns a model: the model, and what it was fitted
// to as a file that people read.
func releasing(h pipeline.Header, learn func(context.Context, *pipeline.Env, pipeline.Table) (pipeline.Table,
	error)) func(context.Context, *pipeline.Env, pipeline.Tables) (pipeline.Tables, error) {
	return func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
		model, err := learn(ctx, env, in["in"])
		if err != nil {
			return nil, err
		}
		list, err := listed(ctx, env, marginalsHeader(h), model)
		return pipeline.Tables{"model": model, "marginals": list}, err
	}
}

// modelHeader returns the header of a released model of the table of header h. Its rows keep every rule
// of the domain (rules.go).
func modelHeader(h pipeline.Header) pipeline.Header {
	return pipeline.Header{Form: pipeline.FormModel, Domain: h.Domain, Ruled: true,
		Scores: true, Class: pipeline.Released, Terms: h.Terms}
}

func (s *MarginalTree) run(ctx context.Context, env *pipeline.Env, t pipeline.Table) (pipeline.Table, error) {
	f, p, err := begin(ctx, env, t, 0)
	if err != nil {
		return pipeline.Table{}, err
	}
	return s.learn(ctx, env, f, p, t.Header)
}

// learn spends the balance.
func (s *MarginalTree) learn(ctx context.Context, env *pipeline.Env, f *front, p *balance,
	h pipeline.Header) (pipeline.Table, error) {
	if err := s.measured(ctx, env, f, p); err != nil {
		return pipeline.Table{}, err
	}
	f.counted()
	m, err := f.fit(ctx, s.limits(), env.Workers)
	if err != nil {
		return pipeline.Table{}, err
	}
	return f.release(treeName, h, m, s.MaxModelSize)
}

// measured releases the columns and the pairs of a table, for all of the budget.
func (s *MarginalTree) measured(ctx context.Context, env *pipeline.Env, f *front, p *balance) error {
	s = s.settled(facts{rows: f.publicCount(), columns: len(f.core.Columns), mu: math.Sqrt(p.total())})
	if err := f.singles(ctx, p, s.Columns, p.total()*s.OneWay); err != nil {
		return err
	}
	if err := s.fixed(ctx, f, p); err != nil {
		return err
	}
	return s.pairs(ctx, env, f, p)
}

// pairs chooses pairs and measures them; without any the columns get all.
func (s *MarginalTree) pairs(ctx context.Context, env *pipeline.Env, f *front, p *balance) error {
	chosen, err := s.chosen(ctx, env, f, p)
	if err != nil {
		return err
	}
	if len(chosen) == 0 {
		return f.again(ctx, p)
	}
	return f.measure(ctx, p, chosen)
}

func (s *MarginalTree) chosen(ctx context.Context, env *pipeline.Env, f *front, p *balance) ([]bargain, error) {
	sets, weights := f.layout.pairs(s.Aim)
	if len(sets) == 0 {
		return nil, nil
	}
	counts, err := f.columnCounts(ctx, s.limits(), env.Workers)
	if err != nil {
		return nil, err
	}
	scores, tau, err := f.distances(ctx, p, sets, counts, p.total()*s.scoring(len(sets), f.rows, p.total()))
	if err != nil {
		return nil, err
	}
	f.scored = &pairBounds{Ones: counts, Y: slices.Clone(scores), Sigma: tau, Rows: f.rowsSD}
	for _, set := range sets {
		f.scored.Pairs = append(f.scored.Pairs, [2]int{set[0], set[1]})
	}
	fixed := s.fixedSets(f.layout)
	m := market{sizes: f.sizes(), ones: counts, pairs: sets, scores: scores, weight: unfixed(sets, weights, fixed),
		tau:    tau,
		budget: p.left(), move: p.move(), limits: s.limits(), base: append(tiedSets(f.rules), fixed...)}
	return m.choose(), nil
}

// settled returns the kind with its open part for columns set, which leaves what is stated for
// scores and a part for pairs.
func (s *MarginalTree) settled(f facts) *MarginalTree {
	single := *s
	if single.OneWay == 0 {
		single.OneWay = f.oneWay() * (1 - s.Select - s.fixedPart())
	}
	return &single
}

const (
	leastScoring = 0.02
	mostScoring  = 0.05 // beyond, what pairs and columns lose costs more than a wrong choice
)

// scoring returns the part of the budget for scores: so much that their noise is about a
// hundredth of the rows, within bounds.
func (s *MarginalTree) scoring(pairs int, rows, squares float64) float64 {
	if s.Select > 0 {
		return s.Select
	}
	part := float64(pairs) / bitmath.Pow(0.01*rows, 2) / squares
	return min(max(part, leastScoring), mostScoring, (1-s.OneWay-s.fixedPart())/2)
}

// market is all that the selection of pairs may look at: released numbers and public
// facts. No private table can be reached from here.
type market struct {
	sizes  []int           // codes of each column
	ones   [][]float64     // counts by code of each column, in the independent model
	pairs  []graphical.Set // that may be measured
	scores []float64       // noisy half-L1 distance of each pair from that model
	weight []float64       // what the user wants of each pair
	tau    float64         // standard deviation of a score's noise
	budget float64         // squares that are left for histograms
	move   float64         // L2 sensitivity of a histogram
	limits graphical.Limits
	base   []graphical.Set // columns that the model ties together whatever is measured
}

// bargain is a pair to measure and its part of the budget.
type bargain struct {
	set  graphical.Set
	cost float64
}

const (
	orders       = 8    // greedy orders that are tried: gain over cells^(k/10)
	rounds       = 4    // of choosing pairs by the noise that the choice before gives them
	firstPairs   = 15   // pairs that the first guess shares the budget among
	mostPairs    = 5000 // candidates, by gain: a greedy tree looks at no more
	perCell      = 0.05 // of sigma: what noise costs in a cell that the model believes empty
	absoluteMean = 0.7978845608028654
)

// choose picks the pairs that are worth their noise and divides the budget among them
// (docs/marginals.md section 1, steps 5 to 7). An empty answer says that none is.
func (m *market) choose() []bargain {
	sigma := make([]float64, len(m.pairs))
	for i := range sigma {
		sigma[i] = m.move * math.Sqrt(firstPairs/m.budget)
	}
	var retained []bargain
	for range rounds {
		size, net := m.gains(sigma)
		chosen, y := m.share(m.tree(net), size)
		if len(chosen) == 0 {
			return nil
		}
		retained = retained[:0]
		whole := total(pick(y, chosen))
		for _, i := range chosen {
			retained = append(retained, bargain{m.pairs[i], m.budget * y[i] / whole})
		}
		for i := range sigma {
			sigma[i] = m.move * math.Sqrt(whole/(m.budget*y[i]))
		}
	}
	return m.affordable(retained)
}

// affordable leaves out the last pairs where one junction tree cannot hold all of them: the
// greedy tree held them in another order.
func (m *market) affordable(list []bargain) []bargain {
	for ; len(list) > 0; list = list[:len(list)-1] {
		sets := slices.Clone(m.base)
		for _, b := range list {
			sets = append(sets, b.set)
		}
		if _, err := graphical.NewTree(m.sizes, sets, m.limits); err == nil {
			return list
		}
	}
	return nil
}

// gains are, for each pair at its noise, how many cells noise harms, and what
// measuring it brings beyond that: the distance found, less one standard deviation of
// what was found by luck, less half of the L1 error of the measurement.
func (m *market) gains(sigma []float64) (size, net []float64) {
	size, net = make([]float64, len(m.pairs)), make([]float64, len(m.pairs))
	for i, set := range m.pairs {
		size[i] = harmed(m.ones[set[0]], m.ones[set[1]], sigma[i])
		net[i] = m.scores[i] - m.tau - float64(absoluteMean/2*sigma[i]*size[i])
	}
	return size, net
}

// harmed counts the cells of a pair by how much noise of sigma shows in them: one
// that the model believes empty takes little of it, since the fit stays positive.
func harmed(a, b []float64, sigma float64) float64 {
	n, cells := total(a), 0.0
	if n <= 0 {
		return float64(len(a) * len(b))
	}
	for _, x := range a {
		for _, y := range b {
			cells += min(1, x*y/n/sigma+perCell)
		}
	}
	return cells
}

// tree returns the set of pairs of largest gain that one clique tree within the limits
// holds, of those that several greedy orders find.
func (m *market) tree(net []float64) []int {
	var best []int
	most := 0.0
	candidates := m.worth(net)
	for k := range orders {
		order := m.order(candidates, net, float64(k)/10)
		sets := make([]graphical.Set, len(order))
		for i, c := range order {
			sets[i] = m.pairs[c]
		}
		var retained []int
		gain := 0.0
		for _, at := range graphical.Grow(m.sizes, m.base, sets, m.limits) {
			retained, gain = append(retained, order[at]), gain+float64(m.weight[order[at]]*net[order[at]])
		}
		if gain > most {
			best, most = retained, gain
		}
	}
	return best
}

// worth lists the pairs with a gain, at most mostPairs of them.
func (m *market) worth(net []float64) []int {
	var list []int
	for i := range m.pairs {
		if m.weight[i]*net[i] > 0 {
			list = append(list, i)
		}
	}
	list = m.order(list, net, 0)
	return list[:min(len(list), mostPairs)]
}

// order sorts pairs by gain over a power of their cells.
func (m *market) order(list []int, net []float64, power float64) []int {
	key := make(map[int]float64, len(list))
	for _, i := range list {
		key[i] = m.weight[i] * net[i] / bitmath.Pow(m.cells(i), power)
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b int) int { return descending(key[a], key[b]) })
	return list
}

func (m *market) cells(i int) float64 {
	return float64(m.sizes[m.pairs[i][0]] * m.sizes[m.pairs[i][1]])
}

func descending(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

// share keeps the pairs of a tree for which the distance that is found is
// largest beside the noise that all kept ones then have. y[i] over their sum is a
// pair's part of the budget: with it the weighted L1 error of all is least.
func (m *market) share(tree []int, size []float64) (kept []int, y []float64) {
	y = make([]float64, len(m.pairs))
	for i := range y {
		y[i] = bitmath.Pow(max(m.weight[i], 0x1p-40)*size[i]*absoluteMean*m.move/2, 2./3)
	}
	order := slices.Clone(tree)
	slices.SortStableFunc(order, func(a, b int) int {
		return descending(m.weight[a]*m.scores[a]/y[a], m.weight[b]*m.scores[b]/y[b])
	})
	best, most, found, noise := 0, 0.0, 0.0, 0.0
	for n, i := range order {
		found, noise = found+float64(m.weight[i]*m.scores[i]), noise+y[i]
		if value := found - bitmath.Pow(noise, 1.5)/math.Sqrt(m.budget); value > most {
			best, most = n+1, value
		}
	}
	return order[:best], y
}

func pick(src []float64, places []int) []float64 {
	dst := make([]float64, len(places))
	for k, i := range places {
		dst[k] = src[i]
	}
	return dst
}

func total(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}
