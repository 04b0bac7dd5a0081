package graphical

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"weir/pipeline"
	"weir/pipeline/bill"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/mechanism"
)

// loss adds up, over the uses of a run, the logarithm of how much more probable what came
// out is on the table of the run than on its neighbour: the best test of the two, and the
// privacy loss.
type loss struct {
	first *loss // whose outputs are given out again
	in    []any
	out   []any
	sum   float64
	fault string
}

func (l *loss) Release(r privacy.Released) any {
	pos := len(l.in)
	l.in, l.out = append(l.in, r.In), append(l.out, r.Out)
	if l.first == nil {
		return r.Out
	}
	if pos >= len(l.first.in) {
		l.fault = "uses follow the rows"
		return r.Out
	}
	before := l.first
	x, err := probability(r.Mechanism, before.in[pos], before.out[pos])
	y, other := probability(r.Mechanism, r.In, before.out[pos])
	if err != nil || other != nil {
		l.fault = fmt.Sprint(err, other)
	}
	l.sum += x - y
	return before.out[pos]
}

// probability returns the logarithm of the probability of an output.
func probability(m privacy.Mechanism, in, out any) (float64, error) {
	switch m := m.(type) {
	case mechanism.LaplaceCounts:
		sum := 0.0
		for i, n := range in.([]int64) {
			sum -= math.Abs(float64(out.([]int64)[i]-n)) / m.NoiseMultiplier
		}
		return sum, nil
	case mechanism.Exponential:
		return math.Log(m.Probabilities(in.([]float64))[out.(int)]), nil
	}
	round, ok := in.(privacy.Round)
	if !ok {
		return 0, fmt.Errorf("a use of %T", m)
	}
	if scores, ok := round.In.([]float64); ok {
		e := mechanism.Exponential{Scores: mechanism.Scores{Epsilon: 2 * math.Sqrt(round.Cost), Adjacency: privacy.AddRemove,
			Moves: mechanism.Moves{AddRemove: round.Sensitivity.Bound, ReplaceOne: round.Sensitivity.Bound}}}
		return math.Log(e.Probabilities(scores)[out.(int)]), nil
	}
	sigma, sum := round.Sensitivity.Bound/math.Sqrt(round.Cost), 0.0
	for i, n := range round.In.([]int64) {
		d := math.Abs(float64(out.([]int64)[i] - n))
		sum += math.Log((math.Erfc((d-.5)/sigma/math.Sqrt2) - math.Erfc((d+.5)/sigma/math.Sqrt2)) / 2)
	}
	return sum, nil
}

// audit returns losses of so many runs of a stage, each with noise of its own.
func audit(t *testing.T, stage pipeline.Stage, x, y pipelinetest.Input, multiplier float64, runs int) []float64 {
	t.Helper()
	list := make([]float64, runs)
	for i := range list {
		one := &loss{}
		attempt{stage: stage, in: x, multiplier: multiplier, key: byte(i), keys: uint32(i >> 8), probe: one}.run(t)
		two := &loss{first: one}
		attempt{stage: stage, in: y, multiplier: multiplier, key: byte(i), keys: uint32(i >> 8), probe: two}.run(t)
		if two.fault != "" || len(one.in) != len(two.in) {
			t.Fatalf("%T: %s, %d uses and %d", stage, two.fault, len(one.in), len(two.in))
		}
		list[i] = two.sum
	}
	return list
}

// audited returns the kinds with settings by which neighbours differ in all that they pay for.
func audited() []pipeline.Stage {
	aim, gaussian, bayes, published := aimKind().New().(*AIM), aimKind().New().(*AIM), privBayesKind().New().(*PrivBayes),
		privBayesKind().New().(*PrivBayes)
	for _, s := range []*AIM{aim, gaussian} {
		s.Workload = []Wanted{{Columns: []string{"x0", "x1"}}, {Columns: []string{"x1", "x2"}}}
		s.Select = 0.5
	}
	gaussian.Selection, published.Score = "gaussian", "published"
	return []pipeline.Stage{independentKind().New(), marginalTreeKind().New(), mstKind().New(), aim, gaussian, bayes,
		published}
}

// TestLossIsNoMoreThanProven audits every kind on two tiny tables: over many runs the
// share of what passes an epsilon, mean of max(0, 1 - e^(epsilon - loss)), is an estimate of
// the delta that belongs to it. It may not be above the proven one by more than six
// standard errors and 3/runs (false alarm below 1e-8 for each of 36 comparisons), and the
// mean of e^-loss is 1 if the noise has the law that it is priced for.
func TestLossIsNoMoreThanProven(t *testing.T) {
	runs := 160
	if n, err := strconv.Atoi(os.Getenv("WEIR_AUDIT")); err == nil {
		runs = n
	}
	pld, err := account.ByName("pld")
	must(t, err)
	for _, a := range []privacy.Adjacency{privacy.ReplaceOne, privacy.AddRemove} {
		for _, c := range auditedTables(a) {
			stage, x, y := c.stage, c.x, c.y
			multiplier := 1.5
			if _, ok := stage.(*PrivBayes); ok { // whose scale is the scale of Laplace noise
				multiplier = 0.4
			}
			events := eventsOf(t, stage, x, multiplier)
			losses := slices.Concat(audit(t, stage, x, y, multiplier, runs/2), audit(t, stage, y, x, multiplier, runs-runs/2))
			one := 0.0
			for _, l := range losses {
				one += math.Exp(-l) / float64(runs)
			}
			for _, delta := range []float64{0.3, 0.05} {
				epsilon, err := pld.Epsilon(events, a, delta)
				must(t, err)
				mean, se := passing(losses, epsilon)
				if mean > delta+6*se+3/float64(runs) {
					t.Errorf("%T, %s: delta %.4f (+- %.4f) at epsilon %.4f, proven is %.4f", stage, a, mean, se, epsilon, delta)
				}
				t.Logf("%T, %s: proven epsilon %.3f at delta %.2f, observed delta %.4f +- %.4f; least epsilon seen %.3f; mean of "+
					"e^-loss %.3f", stage, a, epsilon, delta, mean, se, least(losses, delta), one)
			}
		}
	}
}

// auditedTable is a stage, a table and a neighbour of it.
type auditedTable struct {
	stage pipeline.Stage
	x, y  pipelinetest.Input
}

// auditedTables returns the tables that audits of each kind use, and of numbers that are counted in two rounds.
func auditedTables(a privacy.Adjacency) (list []auditedTable) {
	x, y := halves(a)
	for _, stage := range audited() {
		list = append(list, auditedTable{stage, x, y})
	}
	x, y = tails(a)
	return append(list, auditedTable{independentKind().New(), x, y}, auditedTable{marginalTreeKind().New(), x, y})
}

// tails returns a table of a number of few cells whose rows lie at one end, and a neighbour of which
// one lies at the other: it is in one part of the first round, and in what the second counts
// single cells of, or not, by what the first has released.
func tails(a privacy.Adjacency) (x, y pipelinetest.Input) {
	var one, other []any
	for i := range 60 {
		one, other = append(one, i%4), append(other, i%4)
	}
	if other[0] = 30; a == privacy.AddRemove {
		other = other[1:]
	}
	d := &domain.Domain{Columns: []domain.Column{{Name: "x", Type: domain.Integer, Bounds: &[2]float64{0, 31}}}}
	x = pipelinetest.Input{Header: header(d, len(one)), Rows: pipelinetest.Rows(d, one)}
	y = pipelinetest.Input{Header: header(d, len(other)), Rows: pipelinetest.Rows(d, other)}
	if a == privacy.AddRemove {
		return private(x), private(y)
	}
	return x, y
}

// halves returns a table of two columns that are alike and a third, all of two values, and a
// neighbour. So many rows have each that noise drowns none.
func halves(a privacy.Adjacency) (x, y pipelinetest.Input) {
	var one, third []int
	for i := range 60 {
		one, third = append(one, i/30), append(third, i%2)
	}
	other, fourth := slices.Clone(one), slices.Clone(third)
	other[0], fourth[0] = 1, 1
	if a == privacy.AddRemove {
		other, fourth = other[1:], fourth[1:]
	}
	if x, y = table([]int{2, 2, 2}, one, one, third), table([]int{2, 2, 2}, other, other, fourth); a == privacy.AddRemove {
		return private(x), private(y)
	}
	return x, y
}

func eventsOf(t *testing.T, stage pipeline.Stage, in pipelinetest.Input, multiplier float64) (events []privacy.Event) {
	t.Helper()
	w, err := stage.Plan(headers(in))
	must(t, err)
	kind := pipeline.Kind{In: tableIn()}
	plan, err := bill.Price(&kind, headers(in), w, multiplier, in.Header.Terms.Adjacency)
	must(t, err)
	for _, p := range plan {
		events = append(events, p.Event.Event)
	}
	return events
}

// passing returns the mean of what passes an epsilon, and its standard error.
func passing(losses []float64, epsilon float64) (mean, se float64) {
	squares := 0.0
	for _, l := range losses {
		p := max(0, 1-math.Exp(epsilon-l))
		mean, squares = mean+p, squares+p*p
	}
	n := float64(len(losses))
	mean, squares = mean/n, squares/n
	return mean, math.Sqrt(max(squares-mean*mean, 0) / n)
}

// least returns the epsilon at which the observed delta is six standard errors above a given
// one: no smaller epsilon is true of what was seen.
func least(losses []float64, delta float64) float64 {
	low, high := 0.0, 50.0
	for range 50 {
		point := (low + high) / 2
		if mean, se := passing(losses, point); mean-6*se > delta {
			low = point
		} else {
			high = point
		}
	}
	return low
}
