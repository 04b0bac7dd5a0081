package graphical

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/neighbour"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/privacy/mechanism"
)

// replayed carries a stage out on a table of three columns and, with its releases
// frozen, on one whose first row is another; it returns what the second shows and how
// much of a stated sensitivity was reached.
func replayed(t *testing.T, stage pipeline.Stage, rng *rand.Rand, a privacy.Adjacency, multiplier float64) (
	faults string, nearest float64) {
	t.Helper()
	const n = 60
	columns := [3][]int{}
	for range n {
		k := rng.IntN(3)
		for j := range columns {
			columns[j] = append(columns[j], (k+rng.IntN(2)*j)%3)
		}
	}
	sizes := []int{3, 3, 3}
	base := table(sizes, columns[0], columns[1], columns[2])
	first := 0
	if a == privacy.AddRemove {
		first = 1
	} else {
		for j := range columns {
			columns[j][0] = (columns[j][0] + 1) % 3
		}
	}
	other := table(sizes, columns[0][first:], columns[1][first:], columns[2][first:])
	for _, in := range []*pipelinetest.Input{&base, &other} {
		if in.Header.Terms.Adjacency = a; a == privacy.AddRemove {
			in.Header.Rows = 0
		}
	}
	one := neighbour.NewFrozen()
	two := one.Neighbour()
	attempt{stage: stage, in: base, multiplier: multiplier, probe: one.Of("")}.run(t)
	attempt{stage: stage, in: other, multiplier: multiplier, probe: two.Of("")}.run(t)
	return strings.Join(two.Faults(a, nil), "\n"), two.Nearest()
}

// TestNeighboursOfEveryKind replays random neighbours under both adjacencies: with what
// was released frozen, all choices and histograms cost the same and move by no more
// than is paid for, which is reached.
func TestNeighboursOfEveryKind(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	for _, a := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		for _, stage := range every() {
			most := 0.0
			for range 30 {
				faults, nearest := replayed(t, stage, rng, a, 0.2)
				if faults != "" {
					t.Fatalf("%T, %s: %s", stage, a, faults)
				}
				most = max(most, nearest)
			}
			if math.Abs(most-1) > 1e-9 {
				t.Errorf("%T, %s: %.4f of what is paid for is reached, must be all", stage, a, most)
			}
		}
	}
}

// TestNeighboursOfNumbers replays neighbours of numbers that are counted in two rounds, one
// row of which moves anywhere or is gone: with the first round
// frozen the second asks the same ranges on both tables, and all rounds together move by no
// more than is paid for, which is reached.
func TestNeighboursOfNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	d := &domain.Domain{Columns: []domain.Column{{Name: "x", Type: domain.Integer, Bounds: &[2]float64{0, 60},
		Nullable: true}}}
	for _, a := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		for _, stage := range []pipeline.Stage{independentKind().New(), marginalTreeKind().New()} {
			most := 0.0
			for range 40 {
				one := make([]any, 80)
				for i := range one {
					if one[i] = int(min(3*rng.ExpFloat64(), 60)); rng.IntN(10) == 0 {
						one[i] = nil
					}
				}
				other := slices.Clone(one)
				if other[0] = rng.IntN(61); a == privacy.AddRemove {
					other = other[1:]
				}
				x := pipelinetest.Input{Header: header(d, len(one)), Rows: pipelinetest.Rows(d, one)}
				y := pipelinetest.Input{Header: header(d, len(other)), Rows: pipelinetest.Rows(d, other)}
				if a == privacy.AddRemove {
					x, y = private(x), private(y)
				}
				first := neighbour.NewFrozen()
				second := first.Neighbour()
				attempt{stage: stage, in: x, multiplier: .1, probe: first.Of("")}.run(t)
				attempt{stage: stage, in: y, multiplier: .1, probe: second.Of("")}.run(t)
				if faults := second.Faults(a, nil); len(faults) > 0 {
					t.Fatalf("%T, %s: %s", stage, a, strings.Join(faults, "\n"))
				}
				most = max(most, second.Nearest())
			}
			if math.Abs(most-1) > 1e-9 {
				t.Errorf("%T, %s: %.4f of what is paid for is reached, must be all", stage, a, most)
			}
		}
	}
}

// greedy chooses by scores that move twice as far as it says, or at a price that
// follows them.
type greedy struct {
	*AIM
	factor float64
	priced bool
}

func (s greedy) Plan(in pipeline.Headers) (pipeline.Work, error) {
	w, err := s.AIM.Plan(in)
	w.Run = func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
		p, err := openBalance(env)
		if err != nil {
			return nil, err
		}
		codes := [3]float64{}
		for rec, err := range in["in"].Open(ctx) {
			if err != nil {
				return nil, err
			}
			counted(rec.Column(0), &codes)
		}
		cost := p.total() / 4
		if s.priced {
			cost *= 1 + codes[0]/1000
		}
		_, err = p.choose([]float64{s.factor * codes[0], s.factor * codes[1], s.factor * codes[2]},
			mechanism.Moves{AddRemove: 1, ReplaceOne: 1}, cost)
		return pipeline.Tables{"model": pipeline.WriteFiles(w.Out["model"], nil)}, err
	}
	return w, err
}

// TestWrongChoicesAreSeen: the replay tells scores that move too far, and a price that
// follows private counts, from a choice that is right.
func TestWrongChoicesAreSeen(t *testing.T) {
	for what, c := range map[string]struct {
		stage greedy
		says  string
	}{
		"right":            {greedy{factor: 1}, ""},
		"twice as far":     {greedy{factor: 2}, "its sensitivity is larger than paid for"},
		"a price of a row": {greedy{factor: 1, priced: true}, "of one on one table and another on the other"},
	} {
		c.stage.AIM = aimKind().New().(*AIM)
		all := ""
		rng := rand.New(rand.NewPCG(4, 4))
		for range 5 {
			faults, _ := replayed(t, c.stage, rng, privacy.ReplaceOne, 0.2)
			all += faults
		}
		if (c.says == "") != (all == "") || !strings.Contains(all, c.says) {
			t.Errorf("%s: reported %q, want %q", what, all, c.says)
		}
	}
}

func counted(a arrow.Array, codes *[3]float64) {
	for _, code := range a.(*array.Int32).Int32Values() {
		codes[code]++
	}
}
