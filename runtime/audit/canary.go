package audit

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/words"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/empirical"
)

// Levels of what an audit by canaries says: the first is printed, at the second a claim is refuted.
const (
	Level  = 0.05
	Refute = 1e-6
)

// Game says how an audit by canaries is played (docs/design/canary.md).
type Game struct {
	Canaries int // in each run; 1: a single one, there or not
	Runs     int
	Random   io.Reader            // of the operating system: coins, and the noise of rehearsals
	Ran      func(run, of int)    // is told of each run that has ended; nil: nobody
	Seed     func() (Seed, error) // nil: from Random
}

// leastCanaries is the fewest canaries of one run whose guesses can be counted, and leastRuns the fewest runs of a
// single one.
const leastCanaries, leastRuns = 20, 20

// GameError is a game that cannot be played, on a dataset or at all.
type GameError struct{ Problem string }

func (e *GameError) Error() string { return e.Problem }

func unplayable(format string, args ...any) error { return &GameError{fmt.Sprintf(format, args...)} }

// check says what no audit can be played with.
func (g Game) check() error {
	if g.Canaries != 1 && g.Canaries < leastCanaries || g.Canaries > 1_000_000 {
		return unplayable("canaries: are %d, must be 1, or %d to 1,000,000", g.Canaries, leastCanaries)
	}
	if g.Runs < 1 || g.Runs > 100_000 || g.Canaries == 1 && g.Runs < leastRuns {
		return unplayable("runs: are %d, must be 1 to 100,000, of a single canary %d or more", g.Runs, leastRuns)
	}
	return nil
}

// guesses returns how many coins of a run are guessed: an even number, fixed ahead, near the one that proves most of a
// Gaussian mechanism (docs/design/canary.md).
func (g Game) guesses() int {
	return min(g.Canaries/2, int(2.5*bitmath.Pow(float64(g.Canaries), 0.5))) * 2
}

// Bound is what an audit proves at a level. Epsilons are in nats, at the delta of the bill.
type Bound struct {
	Level float64 `json:"false_alarm"`
	// every mechanism with such releases has a greater epsilon
	Any float64 `json:"epsilon_of_any_mechanism"`
	// none whose curve is the bill's at a smaller part has them: part of mu, or of every epsilon; nil: no claim
	Part    *float64 `json:"part_of_claim,omitempty"`
	Mu      *float64 `json:"mu,omitempty"`              // of Gaussian noise alone
	Epsilon *float64 `json:"epsilon_of_part,omitempty"` // of the bill at that part
}

// Canaries is what an audit by canaries found. It is the owner's: guesses are right by what the rows are.
type Canaries struct {
	Attack     string              `json:"attack"`
	Number     int                 `json:"canaries"`
	Own        int                 `json:"canaries_in_cells_of_their_own"`
	Runs       int                 `json:"runs"`
	Guesses    []empirical.Guesses `json:"guesses,omitempty"` // by run
	Rates      *empirical.Rates    `json:"rates,omitempty"`   // of a single canary
	Bounds     []Bound             `json:"bounds"`            // at Level and at Refute
	Claim      string              `json:"claim,omitempty"`   // what of the bill is tested; "" where it claims nothing
	Proven     *float64            `json:"epsilon_proven"`
	Delta      float64             `json:"delta"`
	Accountant string              `json:"accountant"`
	Adjacency  privacy.Adjacency   `json:"adjacency"`
	Refuted    bool                `json:"refuted"` // the claim, at Refute
}

// Canaries plays a game: runs of the plan with canaries among its rows, guesses on which were there, and what these
// say of its bill. It charges nothing, as no rehearsal does.
func (s *Subject) Canaries(ctx context.Context, g Game) (*Canaries, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	p := &s.plan.Spec.Privacy
	if p.Epsilon.Infinite() {
		return nil, unplayable("privacy.epsilon: is inf, must be a number: a run without privacy claims nothing")
	}
	t, err := s.board(ctx, g)
	if err != nil {
		return nil, err
	}
	found := &Canaries{Attack: t.attack, Number: g.Canaries, Own: t.own, Runs: g.Runs, Proven: s.plan.Epsilon.Proven,
		Delta: p.Delta, Accountant: p.Accountant, Adjacency: p.Adjacency}
	c, err := s.claim()
	if err != nil {
		return nil, err
	}
	found.Claim = c.words
	if g.Canaries == 1 {
		found.Rates, err = t.single(ctx, g)
	} else {
		found.Guesses, err = t.many(ctx, g)
	}
	if err != nil {
		return nil, err
	}
	return found, found.conclude(c)
}

// many plays every run with many canaries.
func (t *board) many(ctx context.Context, g Game) (all []empirical.Guesses, err error) {
	for run := range g.Runs {
		coins, scores, err := t.play(ctx, g)
		if err != nil {
			return nil, err
		}
		all = append(all, guessed(coins, scores, g.guesses()))
		g.ran(run + 1)
	}
	return all, nil
}

func (g Game) ran(run int) {
	if g.Ran != nil {
		g.Ran(run, g.Runs)
	}
}

// guessed names the coins of the canaries at both ends of the scores: the highest were there. Equal scores stand in the
// order of the canaries, which knows no coin.
func guessed(coins []bool, scores []float64, number int) empirical.Guesses {
	order := make([]int, len(coins))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	out := empirical.Guesses{Canaries: len(coins), Made: number}
	for i := range number / 2 {
		if coins[order[i]] {
			out.Correct++
		}
		if !coins[order[len(order)-1-i]] {
			out.Correct++
		}
	}
	return out
}

// single plays every run with one canary: the first third of the runs fix the test, the others are tested.
func (t *board) single(ctx context.Context, g Game) (*empirical.Rates, error) {
	var there []bool
	var seen [][]float64
	for run := range g.Runs {
		coins, signs, err := t.play(ctx, g)
		if err != nil {
			return nil, err
		}
		there, seen = append(there, coins[0]), append(seen, signs)
		g.ran(run + 1)
	}
	pilot, rates := g.Runs/3, &empirical.Rates{}
	test := learned(there[:pilot], seen[:pilot])
	for i := pilot; i < g.Runs; i++ {
		count(rates, there[i], test(seen[i]))
	}
	return rates, nil
}

// learned returns a test that says whether the canary is there: on which side of the middle a run lies along the
// difference of the means of pilot runs, each number in units of its variance.
func learned(there []bool, seen [][]float64) func([]float64) bool {
	size := math.MaxInt
	for _, signs := range seen {
		size = min(size, len(signs))
	}
	var means [2][]float64
	var runs [2]float64
	for side := range means {
		means[side] = make([]float64, size)
	}
	for i, signs := range seen {
		side := sideOf(there[i])
		runs[side]++
		for k := range size {
			means[side][k] += signs[k]
		}
	}
	weights, middle := make([]float64, size), 0.0
	for k := range weights {
		for side := range means {
			means[side][k] /= max(runs[side], 1)
		}
		spread := 0.0
		for i, signs := range seen {
			d := signs[k] - means[sideOf(there[i])][k]
			spread += float64(d * d)
		}
		if spread > 0 {
			weights[k] = (means[1][k] - means[0][k]) / spread
		}
		middle += float64(weights[k] * (means[0][k] + means[1][k]) / 2)
	}
	return func(signs []float64) bool {
		sum := 0.0
		for k := range min(size, len(signs)) {
			sum += float64(weights[k] * signs[k])
		}
		return sum > middle
	}
}

func sideOf(there bool) int {
	if there {
		return 1
	}
	return 0
}

func count(r *empirical.Rates, there, found bool) {
	hit := sideOf(found)
	if there {
		r.With, r.Found = r.With+1, r.Found+hit
	} else {
		r.Without, r.Alarms = r.Without+1, r.Alarms+hit
	}
}

// play rehearses the plan with what fresh coins say of the canaries, and looks for them in what it released: a score
// for each, or of a single one numbers of any kind.
func (t *board) play(ctx context.Context, g Game) (coins []bool, signs []float64, err error) {
	var toss, noise Seed
	if toss, err = NewSeed(g.Random); err == nil {
		noise, err = NewSeed(g.Random)
	}
	if g.Seed != nil && err == nil {
		noise, err = g.Seed()
	}
	if err != nil {
		return nil, nil, err
	}
	random := rand.New(rand.NewChaCha8(toss))
	coins = make([]bool, g.Canaries)
	for i := range coins {
		coins[i] = random.Uint64()&1 == 1
	}
	r, err := t.subject.rehearse(ctx, withoutSinks(t.subject.changed(t.change(coins))), noise)
	if err != nil {
		return nil, nil, err
	}
	signs, err = t.look(ctx, r)
	return coins, signs, err
}

// withoutSinks takes the stages out of a plan of which nothing leaves: no attack sees them.
func withoutSinks(plan *compile.Plan) *compile.Plan {
	sink := sinks(plan)
	plan.Steps = slices.DeleteFunc(plan.Steps, func(s compile.Step) bool { return sink[s.ID] })
	plan.Plan.Steps = slices.DeleteFunc(slices.Clone(plan.Plan.Steps), func(s *pipeline.Step) bool { return sink[s.ID] })
	return plan
}

// change returns what the coins say: canaries behind all rows, or behind all but those that they replace, one of its
// two rows for each.
func (t *board) change(coins []bool) Change {
	var chosen []int
	for i, coin := range coins {
		switch {
		case coin && t.places != nil:
			chosen = append(chosen, i+len(coins))
		case coin || t.places != nil:
			for range t.copies {
				chosen = append(chosen, i)
			}
		}
	}
	return Change{Drop: t.places, Add: []arrow.Record{t.made.rows(t.real.Schema, chosen)}}
}

// claim is what a bill says of one unit: a trade-off at each part of what was paid, which 1 is.
type claim struct {
	words     string // "" where nothing is claimed
	mu        float64
	tradeoff  func(part float64) (empirical.Tradeoff, error)
	epsilonOf func(part float64) (float64, error)
	delta     float64
}

// claim returns what the bill of the plan claims.
func (s *Subject) claim() (claim, error) {
	c := claim{delta: s.plan.Spec.Privacy.Delta}
	if s.plan.Epsilon.Proven == nil {
		return c, nil
	}
	acc, err := account.ByName(s.plan.Spec.Privacy.Accountant)
	if err != nil {
		return c, err
	}
	var events []privacy.Event
	for _, step := range s.plan.Steps {
		for _, e := range step.Events {
			events = append(events, e.Event)
		}
	}
	adjacency := s.plan.Spec.Privacy.Adjacency
	if square, err := account.SquaredMu(events, adjacency); err == nil && square > 0 {
		return c.gaussian(bitmath.Pow(square, 0.5), acc), nil
	}
	return c.curve(events, adjacency, acc, *s.plan.Epsilon.Proven)
}

// gaussian returns the claim of a bill of Gaussian noise alone.
func (c claim) gaussian(mu float64, acc privacy.Accountant) claim {
	c.words, c.mu = fmt.Sprintf("%.4g-GDP (Gaussian noise alone)", mu), mu
	c.tradeoff = func(part float64) (empirical.Tradeoff, error) { return empirical.Gaussian(part * mu), nil }
	c.epsilonOf = func(part float64) (float64, error) {
		if part == 0 {
			return 0, nil
		}
		return acc.Epsilon([]privacy.Event{privacy.Gaussian{NoiseMultiplier: 1 / (part * mu)}}, privacy.AddRemove, c.delta)
	}
	return c
}

// curvePoints is at how many epsilons a curve is taken; between them the claim is weaker than the curve.
const curvePoints = 160

// curve returns the claim of any other bill: what its accountant proves at many epsilons.
func (c claim) curve(events []privacy.Event, adjacency privacy.Adjacency, acc privacy.Accountant,
	proven float64) (claim, error) {
	most, err := acc.Epsilon(events, adjacency, min(c.delta, Refute)*1e-3)
	if err != nil || most > 20*proven {
		most = 20 * proven
	}
	epsilons := empirical.Epsilons(curvePoints, most)
	deltas := make([]float64, len(epsilons))
	if whole, is := acc.(interface {
		Curve([]privacy.Event, privacy.Adjacency, []float64) ([]float64, error)
	}); is {
		if deltas, err = whole.Curve(events, adjacency, epsilons); err != nil {
			return c, err
		}
	} else {
		for i, e := range epsilons {
			if deltas[i], err = acc.Delta(events, adjacency, e); err != nil {
				return c, err
			}
		}
	}
	c.words = "the curve of epsilon and delta that " + acc.Name() + " proves"
	c.tradeoff = func(part float64) (empirical.Tradeoff, error) {
		scaled := make([]float64, len(epsilons))
		for i, e := range epsilons {
			scaled[i] = e * part
		}
		return empirical.Profile(scaled, deltas)
	}
	c.epsilonOf = func(part float64) (float64, error) { return part * proven, nil }
	return c, nil
}

// refutes reports whether what was found has a chance below level under a trade-off.
func (f *Canaries) refutes(t empirical.Tradeoff, level float64) (bool, error) {
	switch {
	case f.Rates != nil:
		return f.Rates.Refute(t, level), nil
	case len(f.Guesses) == 1:
		return f.Guesses[0].Refute(t, level), nil
	}
	chances := make([]float64, len(f.Guesses))
	for i, g := range f.Guesses {
		var err error
		if chances[i], err = g.Chance(t); err != nil {
			return false, err
		}
	}
	return empirical.Together(chances) < level, nil
}

const (
	mostEpsilon = 100 // beyond, no attack of so many guesses proves anything
	mostPart    = 50
)

// conclude fills in what is proven at both levels, and whether the claim is refuted.
func (f *Canaries) conclude(c claim) (err error) {
	for _, level := range []float64{Level, Refute} {
		b := Bound{Level: level}
		if b.Any, err = empirical.Largest(mostEpsilon, func(e float64) (bool, error) {
			return f.refutes(empirical.Bounded(e, c.delta), level)
		}); err != nil {
			return err
		}
		if c.words != "" {
			if err := f.bound(c, &b); err != nil {
				return err
			}
		}
		f.Bounds = append(f.Bounds, b)
	}
	if c.words == "" {
		return nil
	}
	t, err := c.tradeoff(1)
	if err == nil {
		f.Refuted, err = f.refutes(t, Refute)
	}
	return err
}

// bound fills in the part of a claim that is refuted at a level.
func (f *Canaries) bound(c claim, b *Bound) error {
	part, err := empirical.Largest(mostPart, func(part float64) (bool, error) {
		t, err := c.tradeoff(part)
		if err != nil {
			return false, err
		}
		return f.refutes(t, b.Level)
	})
	if err != nil {
		return err
	}
	epsilon, err := c.epsilonOf(part)
	b.Part, b.Epsilon = &part, &epsilon
	if c.mu > 0 {
		mu := part * c.mu
		b.Mu = &mu
	}
	return err
}

// tablesOf returns the released outputs of a stage by port.
func tablesOf(r *Rehearsal, stage string) pipeline.Tables {
	list := pipeline.Tables{}
	for ref, t := range r.Released {
		if ref.Stage == stage {
			list[ref.Port] = t
		}
	}
	return list
}

// Text returns what was found for the terminal of the owner.
func (f *Canaries) Text() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-16s "+format+"\n", append([]any{name}, args...)...)
	}
	line("canaries", "%d in %s, %d with a value that nobody else has", f.Number, words.Plural(f.Runs, "run"), f.Own)
	line("looked for in", "%s", f.Attack)
	switch {
	case f.Rates != nil:
		line("found", "in %d of %d runs with it, in %d of %d without", f.Rates.Found, f.Rates.With, f.Rates.Alarms,
			f.Rates.Without)
	default:
		right, all := 0, 0
		for _, g := range f.Guesses {
			right, all = right+g.Correct, all+g.Made
		}
		line("guesses", "%d of %d right", right, all)
	}
	if f.Proven == nil {
		line("proven", "nothing is claimed here")
	} else {
		line("proven", "epsilon %s at delta %g (%s, %s)", privacy.Bound(*f.Proven), f.Delta, f.Accountant, f.Adjacency)
		line("claim", "%s", f.Claim)
	}
	b.WriteString("\n")
	line("", "%-42s %s", "at confidence .95", "at 1e-6 false alarms")
	line("any mechanism", "%-42s %s", lowerBound(f.Bounds[0].Any), lowerBound(f.Bounds[1].Any))
	if f.Claim != "" {
		line("this bill", "%-42s %s", f.Bounds[0].words(), f.Bounds[1].words())
	}
	b.WriteString("\n")
	switch {
	case f.Refuted:
		line("verdict", "the claim is refuted: more is told of a row than was paid for")
	case f.Claim == "":
		line("verdict", "none: nothing is claimed")
	default:
		line("verdict", "the claim is not refuted by this attack; others may tell more")
	}
	return b.String()
}

// words says which part of the claim is refuted.
func (b Bound) words() string {
	part := fmt.Sprintf("%.3g of the claim", *b.Part)
	if b.Mu != nil {
		part = fmt.Sprintf("mu above %.3g", *b.Mu)
	}
	return lowerBound(*b.Epsilon) + ", " + part
}

// lowerBound words a lower bound, rounded down.
func lowerBound(epsilon float64) string {
	if epsilon <= 0 {
		return "epsilon above 0"
	}
	return "epsilon above " + privacy.Room(epsilon)
}
