package graphical

import (
	"context"
	"math"

	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/privacy/published"
	"weir/train/graphical"
)

// PrivBayes chooses a Bayesian network of columns and measures a table of each column
// and its parents.
//
// Input: a private table of plain columns, stability rows(c). Mechanism: integer
// Gaussian noise on histograms of columns, exponential mechanisms for the families of
// the network, one after the other, discrete Laplace noise on a table of each family.
// Sensitivity: a histogram of a column moves by 1 (add_remove) or sqrt(2)
// (replace_one) in L2, a table by 1 or 2 in L1, a score by 2 or 4 (score: released; see
// dependence) or by 4 and 6 + 4/rows, at most 8 (published; see dependencePublished),
// times a public weight of at most 1.
// Adjacency: either. Guarantee: as for one Gaussian mechanism, of d-1 exponential
// mechanisms and of d Laplace mechanisms, composed; all their parameters are fixed
// ahead. Candidates follow from what was released. Under replace_one with public rows and
// score: published choices and tables alone are pure for the sum of their epsilons, which
// is the paper's number (publishedPrivBayes). There is no variant with
// Gaussian tables: its choices would be exponential mechanisms still, so that it could not be
// charged as one Gaussian event. Reference: Zhang, Cormode,
// Procopiuc, Srivastava, Xiao 2017.
type PrivBayes struct {
	Aim             `yaml:",inline"`
	Columns         `yaml:",inline"`
	Size            `yaml:",inline"`
	OneWay          float64 `yaml:"one_way" json:"one_way" min:"1e-6" exclusiveMax:"1" doc:"Part of the budget (of its squares) for columns on their own, by which numbers get bins and values in them."`
	Network         float64 `yaml:"network" json:"network" min:"1e-6" exclusiveMax:"1" doc:"Part of the epsilon of the rest for the choice of the network, the published beta."`
	Usefulness      float64 `yaml:"usefulness" json:"usefulness" exclusiveMin:"0" doc:"Rows that a cell of a table has on average, over the scale of its noise, the published theta: the larger, the fewer parents."`
	Score           string  `yaml:"score" json:"score" enum:"released|published" doc:"How far a column is from independent of its parents: against released shares of the column, which needs less noise; or as published, against its exact ones."`
	NoiseMultiplier float64 `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"One over the epsilon of all choices and tables of families together, by basic composition; calibrated to the budget by default."`
}

const (
	bayesName = "privbayes"
	// tablesName is the mechanism of the families' tables.
	tablesName = "tables"
)

func privBayesKind() pipeline.Kind {
	return pipeline.Kind{
		Name: bayesName, Version: 5, Late: true,
		Doc: "Bayesian network of columns (PrivBayes). Chooses a Bayesian network of the columns, measures a noisy table " +
			"of each column and its parents, and " +
			"releases the network (PrivBayes: Zhang, Cormode, Procopiuc, Srivastava, Xiao 2017). " +
			"Use it to compare with what others publish; marginal_tree is more accurate. Under claims: published the bill " +
			"shows the paper's epsilon beside the proven one, " +
			"for score: published without weights, exchanged rows and a public row count; under add_remove the bound that the " +
			"paper prints does not hold, and none is shown. " +
			"Takes the table as it is after cleaning, neither cut nor encoded, of stability rows(c).",
		In: tableIn(), Out: modelOut(),
		Readers: readers(),
		New: func() pipeline.Stage {
			return &PrivBayes{Aim: Aim{TargetWeight: 2}, Size: Size{MaxModelSize: 40}, OneWay: 0.05, Network: 0.3, Usefulness: 4,
				Score: "released"}
		},
	}
}

// Plan prices columns, choices and tables.
func (s *PrivBayes) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	ps := problems(h, s.Columns, s.Aim, s.Size)
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	l := layoutOf(h.Domain)
	b := s.budget(l.header(h))
	w := oneEvent(h, s.NoiseMultiplier, "noisy marginals of columns (numbers in rounds)", s.run)
	w.Decide = func(scale float64) pipeline.Decision {
		return pipeline.Decision{Decided: append(l.decided(), factsOf(l.header(h), 0, scale).counts()...)}
	}
	w.Pricing.Published = publishedPrivBayes(s, l.header(h), wantedOf(l.pairs(s.Aim)))
	w.Spends[0].Mechanism = b.columns
	w.Spends = append(w.Spends, pipeline.Spend{Name: tablesName, Doc: "a noisy table of each column and its parents",
		Mechanism: b.tables})
	if b.families > 1 {
		w.Spends = append(w.Spends, pipeline.Spend{Name: choicesName, Doc: "each column's parents", Mechanism: b.choices})
	}
	return w, nil
}

func (s *PrivBayes) run(ctx context.Context, env *pipeline.Env, t pipeline.Table) (pipeline.Table, error) {
	f, p, err := begin(ctx, env, t, 0)
	if err != nil {
		return pipeline.Table{}, err
	}
	if err := f.singles(ctx, p, s.Columns, p.total()); err != nil {
		return pipeline.Table{}, err
	}
	if err := f.again(ctx, p); err != nil {
		return pipeline.Table{}, err
	}
	tables, err := env.Privacy.Open(tablesName)
	if err != nil {
		return pipeline.Table{}, err
	}
	n := &network{front: f, s: s, tables: tables, sizes: f.sizes(), known: map[string]float64{},
		wanted: wantedOf(f.layout.pairs(s.Aim))}
	if len(n.sizes) > 1 {
		if n.choices, err = env.Privacy.Open(choicesName); err != nil {
			return pipeline.Table{}, err
		}
	}
	if err := n.learn(ctx, env.Rand("first column").IntN(len(n.sizes))); err != nil {
		return pipeline.Table{}, err
	}
	factors, err := n.measure(ctx)
	if err != nil {
		return pipeline.Table{}, err
	}
	m, err := n.host(factors)
	if err != nil {
		return pipeline.Table{}, err
	}
	return f.release(bayesName, t.Header, m, s.MaxModelSize)
}

// network is PrivBayes under way.
type network struct {
	*front
	s               *PrivBayes
	choices, tables *privacy.Handle
	sizes           []int
	families        []family
	known           map[string]float64 // private: scores, by family
	wanted          wanted
}

// learn begins with a column that is public and adds one family after the other.
func (n *network) learn(ctx context.Context, root int) error {
	n.families = []family{{column: root}}
	for len(n.families) < len(n.sizes) {
		list := families(n.sizes, n.families, n.cells())
		scores, err := n.scores(ctx, list)
		if err != nil {
			return err
		}
		pos, err := mechanism.Select(n.choices, scores)
		if err != nil {
			return err
		}
		n.families = append(n.families, list[pos].limited(n.sizes, n.base(), n.s.limits()))
	}
	return nil
}

// cells returns the most that a table may have to be useful, and to be held.
func (n *network) cells() float64 {
	scale := n.tables.Mechanism().(mechanism.LaplaceCounts).NoiseMultiplier
	return min(n.rows/(n.s.Usefulness*scale), mostCells(n.s.limits()))
}

// scores returns scores, which are private, and keeps them for later steps.
func (n *network) scores(ctx context.Context, list []family) ([]float64, error) {
	var fresh []family
	var sets []graphical.Set
	for _, f := range list {
		if _, ok := n.known[f.key()]; !ok {
			fresh, sets = append(fresh, f), append(sets, f.set())
		}
	}
	err := n.each(ctx, sets, func(i int, counts []int64) error {
		n.known[fresh[i].key()] = n.wanted.weightOf(fresh[i]) * n.score(fresh[i], counts)
		return nil
	})
	scores := make([]float64, len(list))
	for i, f := range list {
		scores[i] = n.known[f.key()]
	}
	return scores, err
}

func (n *network) score(f family, counts []int64) float64 {
	if n.s.Score == "published" {
		return dependencePublished(f.axis(n.sizes), counts)
	}
	return dependence(f.axis(n.sizes), counts, wholeShares(n.counts(f.column)))
}

// counts returns the counts of a column as it was released first.
func (n *network) counts(column int) []float64 { return n.front.tables[column].Y }

// measure releases the table of each family and says what follows from it.
func (n *network) measure(ctx context.Context) ([]graphical.Factor, error) {
	sets := make([]graphical.Set, len(n.families))
	for i, f := range n.families {
		sets[i] = f.set()
	}
	factors := make([]graphical.Factor, len(sets))
	sigma := n.tables.Mechanism().(privacy.Additive).Deviation()
	err := n.each(ctx, sets, func(i int, counts []int64) error {
		noisy, err := mechanism.ReleaseCounts(n.tables, counts)
		if err != nil {
			return err
		}
		y := make([]float64, len(noisy))
		for k, v := range noisy {
			y[k] = float64(v)
		}
		f := n.families[i]
		factors[i] = conditionals(f, n.sizes, y, n.shares(f.column))
		n.measured = append(n.measured, measured{Columns: sets[i], Y: y, Sigma: sigma, Noise: laplace})
		return nil
	})
	return factors, err
}

func (n *network) shares(column int) []float64 {
	shares := make([]float64, n.sizes[column])
	for i, part := range wholeShares(n.counts(column)) {
		shares[i] = math.Ldexp(float64(part), -shareBits)
	}
	return shares
}

// bayesBudget divides a scale among the mechanisms of a network.
type bayesBudget struct {
	adjacency       privacy.Adjacency
	families        float64 // one of each column
	oneWay, network float64
	moves           mechanism.Moves // of a score
}

func (s *PrivBayes) budget(h pipeline.Header) bayesBudget {
	return bayesBudget{h.Terms.Adjacency, float64(len(h.Domain.Columns)), s.OneWay, s.Network, s.moves(publicRows(h))}
}

// moves bounds how far one row moves a score: see dependence, dependencePublished.
func (s *PrivBayes) moves(rows float64) mechanism.Moves {
	switch {
	case s.Score == "released":
		return mechanism.Moves{AddRemove: 2, ReplaceOne: 4}
	case rows > 0:
		return mechanism.Moves{AddRemove: 4, ReplaceOne: min(6+4/rows, 8)}
	}
	return mechanism.Moves{AddRemove: 4, ReplaceOne: 8}
}

// unit returns how far a row moves the counts of a table, in L1.
func (b bayesBudget) unit() float64 {
	if b.adjacency == privacy.ReplaceOne {
		return 2
	}
	return 1
}

// leastScale keeps the noise of a run without privacy to numbers that can be drawn: it
// is 0 but with probability e^-1000.
const leastScale = 0x1p-10

func (b bayesBudget) tables(scale float64) privacy.Mechanism {
	each := (1 - b.network) / b.families // of epsilon
	return mechanism.LaplaceCounts{NoiseMultiplier: max(b.unit()*scale/each, leastScale), Releases: int64(b.families)}
}

func (b bayesBudget) choices(scale float64) privacy.Mechanism {
	epsilon := b.network / (b.families - 1) / scale
	return mechanism.Exponential{Scores: mechanism.Scores{Epsilon: min(epsilon, mostEpsilon), Adjacency: b.adjacency,
		Moves: b.moves, Candidates: privacy.AnyNumber, Selections: int64(b.families) - 1}}
}

// columns have the given part of the squares of all: Laplace noise of epsilon e counts
// e^2, a choice e^2/4.
func (b bayesBudget) columns(scale float64) privacy.Mechanism {
	rest := (1 - b.network) * (1 - b.network) / b.families
	if b.families > 1 {
		rest += b.network * b.network / (4 * (b.families - 1))
	}
	mu := math.Sqrt(rest * b.oneWay / (1 - b.oneWay))
	return mechanism.GaussianFilter{NoiseMultiplier: b.unit() * scale / mu, Adjacency: b.adjacency}
}

// publishedPrivBayes returns what Zhang et al. 2017 say of the choices and tables of a stage:
// their epsilons added, a selection at score R moving by 3/n + 2/n^2 and Laplace tables moving
// by 2 in L1. That holds for exchanged rows of a public number n, and then it is proven
// too, for choices and tables: each is pure. The paper has no release of single columns
// and says nothing of theirs, which epsilon (proven) holds.
//
// There is no such number under add_remove, where n is private and the printed bound
// of R does not hold, nor for scores against released shares or with weights, which the
// paper has not.
func publishedPrivBayes(s *PrivBayes, h pipeline.Header, w wanted) *pipeline.Published {
	rows := publicRows(h)
	if !w.even(len(h.Domain.Columns)) || s.Score != "published" || h.Terms.Adjacency != privacy.ReplaceOne || rows <= 0 ||
		len(h.Domain.Columns) < 2 {
		return nil
	}
	return &pipeline.Published{
		Method: "PrivBayes, Zhang et al. 2017: epsilons of choices and tables added; without the columns on their own, " +
			"which the paper does not release",
		Epsilon: func(multiplier, _ float64) (float64, error) {
			return published.PrivBayes{Rows: int64(rows), Attributes: int64(len(h.Domain.Columns)), Epsilon: 1 / multiplier,
				Beta: s.Network}.Total(), nil
		},
	}
}
