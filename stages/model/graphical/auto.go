package graphical

import (
	"context"
	"fmt"
	"math"
	"slices"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy/mechanism"
	"weir/schema"
	"weir/stages/internal/columns"
)

// Auto takes the kind that serves a table best.
//
// Input, adjacency and guarantee: as for the kinds it takes (MarginalTree,
// Independent), which charge one and the same mechanism.GaussianFilter. Mechanism:
// theirs; the choice is none. It follows from rows that are public or stated, the
// number of columns and the noise of the plan (facts), so that the plan says it before
// a row is read and no row can change it. Reference: docs/marginals.md, what auto decides.
type Auto struct {
	Aim             `yaml:",inline"`
	Columns         `yaml:",inline"`
	Size            `yaml:",inline"`
	Sets            `yaml:",inline"`
	Rows            int64   `yaml:"rows,omitempty" json:"rows,omitempty" min:"1" doc:"Order of magnitude of the rows, from public knowledge, where their count is not public; it decides the kind, and what part of the budget columns on their own get, alone."`
	NoiseMultiplier float64 `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"Noise of the whole stage as one Gaussian mechanism of sensitivity 1; calibrated to the budget by default."`
}

const autoName = "auto"

func autoKind() pipeline.Kind {
	return pipeline.Kind{
		Name: autoName, Version: 6, Late: true,
		Doc: "Takes the model that serves the table best. Chooses from public facts alone, and the plan says which and why: " +
			"independent where the rows (n) and " +
			"the noise (mu) are such that n mu is below 8 for each column, else marginal_tree. Use it unless you know better. " +
			"Takes the table as it is after cleaning, neither cut nor encoded, of stability rows(c): numbers need bounds, " +
			"categories a list; missing values are a category.",
		In: tableIn(), Out: modelOut(),
		Readers: readers(),
		New: func() pipeline.Stage {
			tree := marginalTreeKind().New().(*MarginalTree)
			return &Auto{Aim: tree.Aim, Size: tree.Size}
		},
	}
}

// Plan returns the plan of either kind: both check the same and charge one filter. What the
// noise decides follows when the bill is known.
func (s *Auto) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	work, err := s.tree().Plan(in)
	if err != nil {
		return pipeline.Work{}, err
	}
	work.Spends[0].Doc = "noisy marginals of columns (numbers in rounds)" + s.spendDoc() +
		", and of chosen pairs where noise leaves any"
	l := layoutOf(h.Domain)
	work.Decide = func(scale float64) pipeline.Decision { return s.decide(l, factsOf(l.header(h), s.Rows, scale)) }
	work.Run = releasing(h, func(ctx context.Context, env *pipeline.Env, t pipeline.Table) (pipeline.Table, error) {
		f, p, err := begin(ctx, env, t, s.Rows)
		if err != nil {
			return pipeline.Table{}, err
		}
		return s.kind(factsOf(l.header(h), s.Rows, p.scale())).learn(ctx, env, f, p, t.Header)
	})
	return work, nil
}

// learner is a kind that auto may take.
type learner interface {
	decide(layout, facts) pipeline.Decision
	learn(context.Context, *pipeline.Env, *front, *balance, pipeline.Header) (pipeline.Table, error)
}

func (s *Auto) tree() *MarginalTree {
	tree := marginalTreeKind().New().(*MarginalTree)
	tree.Aim, tree.Columns, tree.Size, tree.Sets, tree.NoiseMultiplier = s.Aim, s.Columns, s.Size, s.Sets,
		s.NoiseMultiplier
	return tree
}

// kind returns the choice, a function of public facts: it gets no table. Where independent is taken there are no sets
// to measure: the plan has refused them.
func (s *Auto) kind(f facts) learner {
	if f.fewerRows(drown) {
		return &Independent{Columns: s.Columns, NoiseMultiplier: s.NoiseMultiplier}
	}
	tree := s.tree()
	if f.rows > 0 && !f.count {
		tree.OneWay = f.oneWay() * (1 - tree.fixedPart())
	}
	return tree
}

// decide says which kind is taken, why, and what its open settings are.
func (s *Auto) decide(l layout, f facts) pipeline.Decision {
	used := pipeline.Decided{Setting: "kind", Value: treeName}
	switch {
	case f.fewerRows(drown):
		used.Value, used.Why = independentName, f.words()+", below "+f.limit(drown)+
			": noise would drown most pairs of columns"
	case f.known():
		used.Why = f.words() + ", at least " + f.limit(drown)
	case f.rows == 0:
		used.Why = "the number of rows is not public"
	default:
		used.Why = "there is no noise"
	}
	decided := []pipeline.Decided{used}
	subject := s.kind(f)
	if tree, ok := subject.(*MarginalTree); ok && tree.OneWay > 0 && f.known() {
		decided = append(decided, f.sayOneWay(tree.OneWay, tree.fixedPart()))
	}
	single := subject.decide(l, f)
	// of the kind that is taken
	flags := slices.DeleteFunc(single.Findings, func(x pipeline.Finding) bool { return x.Rule != "W45" })
	return pipeline.Decision{Decided: append(decided, single.Decided...), Findings: slices.Concat(f.drowned(""),
		f.unknown(),
		flags), Refused: s.refused(f)}
}

// refused returns the sets to measure where the kind that is taken measures none.
func (s *Auto) refused(f facts) (ps schema.Problems) {
	if len(s.Measure) > 0 && f.fewerRows(drown) {
		ps.Add("measure", fmt.Sprintf("sets of columns where auto takes %s, which measures none: %s, below %s",
			independentName, f.words(), f.limit(drown)),
			"left out, or of kind: "+treeName+", which measures them whatever the noise, or beside fewer columns or a larger "+
				"budget")
	}
	return ps
}

// facts are what is decided by before a row is read: public ones, all of them on the
// plan.
type facts struct {
	rows    float64 // public or stated; 0: neither
	count   bool    // rows is the count by which a stage measures (publicRows)
	columns int
	mu      float64 // of the whole stage, for one changed row
	move    float64 // L2 sensitivity of a histogram
}

// factsOf takes the public row count, or what the spec states where there is none. The
// header is the header of the plan: what a table says of itself at run has no part in it.
func factsOf(h pipeline.Header, stated int64, scale float64) facts {
	f := facts{rows: float64(max(0, h.Rows)), count: publicRows(h) > 0, columns: len(h.Domain.Columns),
		mu: math.Inf(1), move: mechanism.HistogramMoves().Under(h.Terms.Adjacency)}
	if f.rows == 0 {
		f.rows = float64(max(0, stated))
	}
	if scale > 0 {
		f.mu = math.Sqrt(mechanism.GaussianFilter{NoiseMultiplier: scale, Adjacency: h.Terms.Adjacency}.Total())
	}
	return f
}

// drown is how many standard deviations of noise the rows must be worth, for each column,
// as was measured (docs/marginals.md, what auto decides): below, noise drowns most pairs,
// and independent columns are nearer to the rows.
const drown = 8

// The part of a budget for columns on their own, of those that choose pairs: by rows over
// noise for each column, as was measured (docs/marginals.md, section 1).
const (
	leastOneWay = 0.35
	mostOneWay  = 0.8
	someOneWay  = 0.5 // where rows are not known
)

// oneWay returns that part, to two digits.
func (f facts) oneWay() float64 {
	if f.rows == 0 {
		return someOneWay
	}
	part := 1.4 * bitmath.Pow(f.rows*f.mu/float64(f.columns), -1./6)
	return math.Round(100*min(max(part, leastOneWay), mostOneWay)) / 100
}

// sayOneWay says that part, and of what it is where fixed sets have another part.
func (f facts) sayOneWay(part, fixed float64) pipeline.Decided {
	why := fmt.Sprintf("1.4 (n mu/d)^(-1/6), from %g to %g; n mu = %s, d = %d", leastOneWay, mostOneWay,
		digits(f.rows*f.mu), f.columns)
	if fixed > 0 {
		why += fmt.Sprintf("; of the %s that measure leaves", digits(1-fixed))
	}
	return pipeline.Decided{Setting: "one_way", Value: digits(part), Why: why}
}

// fewerRows tells whether there are known to be less than the given number of rows a column, in units
// of 1/mu.
func (f facts) fewerRows(each float64) bool {
	return f.rows > 0 && f.rows*f.mu < each*float64(f.columns)
}

// counts says that rows are counted in passes, where they are.
func (f facts) counts() []pipeline.Decided {
	if !columns.Passes(int64(f.rows), f.columns) {
		return nil
	}
	return []pipeline.Decided{{Setting: "counts", Value: "in passes over the rows",
		Why: fmt.Sprintf("the codes of %s rows of %d columns would take more than %s; the rows are "+
			"read once before anything is charged and once or more behind it", digits(f.rows), f.columns, columns.Held)}}
}

// known tells whether rows and noise are both known.
func (f facts) known() bool { return f.rows > 0 && !math.IsInf(f.mu, 1) }

func (f facts) words() string {
	return fmt.Sprintf("n mu = %s x %s = %s", digits(f.rows), digits(f.mu), digits(f.rows*f.mu))
}

// digits has four digits, and all before the point.
func digits(x float64) string {
	if x >= 1000 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.4g", x)
}

func (f facts) limit(each int) string {
	return fmt.Sprintf("%d for each of %d columns, %d", each, f.columns, each*f.columns)
}

// orColumns is the fix of a kind that measures pairs where it does not pay.
const orColumns = ", or kind: independent"

// drowned warns where noise drowns most of what pairs say; or is a further fix.
func (f facts) drowned(or string) []pipeline.Finding {
	if f.columns < 2 || !f.fewerRows(drown) {
		return nil
	}
	return []pipeline.Finding{{Rule: "W39", Level: pipeline.LevelWarning,
		Message: fmt.Sprintf("%s, below %s: noise drowns most of what pairs of columns say, and the rows may tell little "+
			"more than columns on their own do", f.words(), f.limit(drown)),
		Fix: "fewer columns, a larger budget" + or + "; draw no conclusion about relations from these rows"}}
}

// flagged is from which part of the rows on a flag that noise drowns is warned of.
const flagged = .02

// flags warns where noise drowns rare categories: of fewer rows than three standard deviations of a count of their
// column on its own, to which the given part of the budget goes. Rare categories of all columns together have the sum
// that was counted (settleRare), which two standard deviations of its noise bound: for one in each of these columns.
// All of it is public: cells of the domain, rows, noise.
func (f facts) flags(l layout, part float64) []pipeline.Finding {
	if !f.known() {
		return nil
	}
	grids, err := gridsOf(l.core)
	if err != nil { // categories that are released later
		return nil
	}
	count, rows := 0.0, 0.0
	if f.count {
		count = f.rows
	}
	squares, drowned, coded, together := part*f.mu*f.mu, 0, 0, 0.0
	for j, share := range shares(cellsOf(grids), l.columnsPerCore(), sharedBy(count, squares, f.columns)) {
		if !grids[j].Coded() {
			continue
		}
		coded++
		if least := rare * f.move / math.Sqrt(squares*share); least >= flagged*f.rows {
			drowned, rows, together = drowned+1, max(rows, least), together+float64(least/rare*least/rare)
		}
	}
	if drowned == 0 {
		return nil
	}
	return []pipeline.Finding{{Rule: "W45", Level: pipeline.LevelWarning,
		Message: fmt.Sprintf("in %d of %d columns of categories noise drowns a category of up to %s of %s rows (%.1f %%): "+
			"such "+
			"rows come back together, not one by one, and the sum over these columns is known to about %s rows", drowned, coded,
			digits(math.Ceil(rows)), digits(f.rows), 100*min(1, rows/f.rows), digits(math.Ceil(2*math.Sqrt(together)))),
		Fix: "fewer columns, a larger budget, or categories joined by public knowledge; draw no conclusion from one rare " +
			"category"}}
}

// unknown notes that few rows are not recognised where nothing says how many there are.
func (f facts) unknown() []pipeline.Finding {
	if f.columns < 2 || f.rows > 0 || math.IsInf(f.mu, 1) {
		return nil
	}
	return []pipeline.Finding{{Rule: "W39", Level: pipeline.LevelNote, Message: fmt.Sprintf("below %s rows noise would "+
		"drown most pairs of columns; how many there are is not public, and was not looked at",
		digits(math.Ceil(drown*float64(f.columns)/f.mu))),
		Fix: "rows: about how many there are, as a round number such as 500 or 20000, where that is public; auto then " +
			"takes what so many can bear"}}
}

// warned returns all that a kind decides whose open settings do not follow from the noise.
func warned(l layout, h pipeline.Header) func(scale float64) pipeline.Decision {
	return func(scale float64) pipeline.Decision {
		f := factsOf(l.header(h), 0, scale)
		return pipeline.Decision{Decided: append(l.decided(), f.counts()...), Findings: f.drowned(orColumns)}
	}
}

// bins says how many bins numbers get that declare no edges; which rows lie in heaps, that
// stand alone, is released later.
func (f facts) bins(s Columns, d *domain.Domain) []pipeline.Decided {
	if s.Bins > 0 || !f.count || !f.known() || !s.finds(d) {
		return nil
	}
	return []pipeline.Decided{{Setting: "bins", Value: fmt.Sprint(binsOf(f.rows, f.mu, numbers(d))),
		Why: fmt.Sprintf("max(2.2 q^(-1/3), 1.4) (n mu)^(1/4), from %d to %d; n mu = %s, q = %d numbers; fewer beside heaps",
			leastBins, mostFound, digits(f.rows*f.mu), numbers(d))}}
}
