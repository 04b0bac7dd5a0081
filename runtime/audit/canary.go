package audit

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/words"
	"weir/privacy"
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
	Random   io.Reader         // of the operating system: coins, and the noise of rehearsals
	Ran      func(run, of int) // is told of each run that has ended; nil: nobody
	// Compared is told how many of many canaries a run has compared with released rows; nil: nobody
	Compared func(done, of int)
	Seed     func() (Seed, error) // nil: from Random
}

// leastCanaries is the fewest canaries of one run whose guesses can be counted, and leastRuns the fewest runs of a
// single one.
const leastCanaries, leastRuns = 20, 20

// GameError is a game that cannot be played, on a dataset or at all.
type GameError struct{ Problem string }

func (e *GameError) Error() string { return e.Problem }

func unplayable(format string, args ...any) error { return &GameError{fmt.Sprintf(format, args...)} }

// Check returns a GameError where no audit can be played with so many canaries and runs, on any dataset.
func (g Game) Check() error {
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
	if err := g.Check(); err != nil {
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
		count(rates, there[i], test.finds(seen[i]))
	}
	return rates, nil
}

// play rehearses the plan with what fresh coins say of the canaries, and looks for them in what it released: a score
// for each, or of a single one numbers of any kind.
func (t *board) play(ctx context.Context, g Game) (coins []bool, signs []float64, err error) {
	var tossed, noise Seed
	if tossed, err = NewSeed(g.Random); err == nil {
		noise, err = NewSeed(g.Random)
	}
	if g.Seed != nil && err == nil {
		noise, err = g.Seed()
	}
	if err != nil {
		return nil, nil, err
	}
	coins = toss(tossed, g.Canaries)
	r, err := t.subject.rehearse(ctx, withoutSinks(t.subject.changed(t.change(coins))), noise)
	if err != nil {
		return nil, nil, err
	}
	signs, err = t.look(ctx, r)
	return coins, signs, err
}

// toss returns fair coins, independent of each other and of all other seeds.
func toss(seed Seed, number int) []bool {
	random := rand.New(rand.NewChaCha8(seed))
	coins := make([]bool, number)
	for i := range coins {
		coins[i] = random.Uint64()&1 == 1
	}
	return coins
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
