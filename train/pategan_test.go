package train

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/train/net"
)

// pateCase is a run of PATEGAN: what is paid for, and what is done with it.
type pateCase struct {
	mechanism.Votes
	PATEGANConfig
}

func (c pateCase) opened(shards [][]int32) *privacy.Handle {
	c.Votes.Teachers = len(shards)
	return paid(c.Votes, "pate")
}

// pateCases returns discriminants on products that vote for half, students learning shares; and
// the paper's: logistic regressions on columns that vote for what they take for real,
// students learning majorities.
func pateCases() map[string]pateCase {
	ours := pateCase{mechanism.Votes{NoiseMultiplier: 2, Law: mechanism.GaussianVotes, Rows: 8, Steps: 24},
		PATEGANConfig{Learns: LearnsShare, Objective: CrossEntropy, StudentSteps: 1, Student: Adam(1e-2, 0.5, 0.9),
			Generator: Adam(1e-2, 0.5, 0.9), Average: 0.9, Seed: 4}}
	ours.PATEGANConfig.Teachers = TeacherConfig{Products: [][2]int32{{0, 0}, {0, 1}, {2, 3}}, Votes: VotesHalf}
	paper := ours
	paper.Law, paper.Learns, paper.Objective, paper.WeightClip, paper.StudentSteps = mechanism.LaplaceVotes,
		LearnsMajority, WassersteinVotes, 0.01, 2
	paper.PATEGANConfig.Teachers = TeacherConfig{Votes: VotesReal, Logistic: &Logistic{Steps: 3, Rate: 0.05, Penalty: 1}}
	return map[string]pateCase{"ours": ours, "the paper's": paper}
}

func runPATE(t testing.TB, c pateCase, rows *Rows, shards [][]int32, h Hooks) []float32 {
	t.Helper()
	_, ng := wganNets(t)
	student := build(t, 4, net.Dense(16), net.Activation("batch_norm"), net.Activation("relu"), net.Dense(1))
	if c.WeightClip > 0 {
		student, _ = wganNets(t)
	}
	w, err := PATEGAN(context.Background(), c.PATEGANConfig, student, ng, rows, shards, c.opened(shards), h)
	must(err)
	return w
}

func TestPATEGANContinuesBitForBit(t *testing.T) {
	for _, c := range pateCases() {
		resume(t, 10, func(h Hooks) []float32 { return runPATE(t, c, normalRows(300, 4, 1), shardsOf(300, 70), h) })
	}
}

func TestPATEGANBitsDoNotDependOnCores(t *testing.T) {
	for name, c := range pateCases() {
		var got [2][]float32
		for k := range got {
			old := runtime.GOMAXPROCS(k + 1)
			got[k] = runPATE(t, c, normalRows(300, 4, 1), shardsOf(300, 70), Hooks{})
			runtime.GOMAXPROCS(old)
		}
		same(t, name, got[0], got[1])
	}
}

// TestVotesSensitivity: one shard exchanged for a hostile one, or an empty one, moves the
// votes for each row by at most 1, and moves some.
func TestVotesSensitivity(t *testing.T) {
	shards := shardsOf(300, 20)
	votes := func(c pateCase, value float32) []int64 {
		r := rand.New(rand.NewPCG(9, 9))
		columns := make([][]float32, 4)
		for j := range columns {
			for i := range 300 {
				x := float32(r.NormFloat64())
				if i%19 == 3 && value != 0 {
					x = value * float32(j+1)
				}
				columns[j] = append(columns[j], x)
			}
		}
		_, ng := wganNets(t)
		teachers, gen := newTeachers(c.PATEGANConfig.Teachers, numeric(columns...), shards, 64), newGenerator(ng, 64)
		weights, draws := ng.Init(rand.New(rand.NewPCG(6, 6))), rand.New(rand.NewPCG(7, 7))
		for range 5 {
			teachers.lesson.learn(teachers, gen.sample(weights, 64, draws))
		}
		return append([]int64(nil), teachers.count(gen.sample(weights, 64, draws))...)
	}
	for name, c := range pateCases() {
		before, moved := votes(c, 0), false
		for _, hostile := range []float32{-3, 1e3, -1e18, 1e38, float32(math.NaN()), float32(math.Inf(1))} {
			for i, n := range votes(c, hostile) {
				if d := n - before[i]; d < -1 || d > 1 {
					t.Errorf("%s: a shard of %g moves votes for row %d from %d to %d", name, hostile, i, before[i], n)
				}
				moved = moved || n != before[i]
			}
		}
		if !moved {
			t.Errorf("%s: nothing moved, the test shows nothing", name)
		}
	}
}

// TestPATEGANLearns: votes of 200 shards without noise pull the generated means to the means of
// the rows.
func TestPATEGANLearns(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	want := []float64{1, -1, 0.5, 0}
	columns := make([][]float32, 4)
	for j := range columns {
		for range 2000 {
			columns[j] = append(columns[j], float32(want[j]+0.5*r.NormFloat64()))
		}
	}
	c := pateCases()["ours"]
	c.NoiseMultiplier, c.Steps, c.Rows, c.Generator, c.Average = 0, 800, 64, Adam(3e-3, 0.5, 0.9), 0.99
	checkMeans(t, runPATE(t, c, numeric(columns...), shardsOf(2000, 201)[:200], Hooks{}), want)
}

// TestStudentLabels: the share of noisy votes, beyond 0 and 1 too; or whether they are above
// half of the teachers, as the paper's program has it.
func TestStudentLabels(t *testing.T) {
	s := &student{votes: mechanism.Votes{Teachers: 10}}
	for count, want := range map[int64][2]float32{-5: {-0.5, 0}, 0: {0, 0}, 5: {0.5, 0}, 6: {0.6, 1}, 30: {3, 1}} {
		for i, l := range []Label{LearnsShare, LearnsMajority} {
			s.c.Learns = l
			if got := s.label(count); got != want[i] {
				t.Errorf("%s of %d votes of 10: %g, want %g", l, count, got, want[i])
			}
		}
	}
}

// TestStudentLoss: the gradient at a score s of a row of label y is sigmoid(s) - y, and 1 - 2y.
func TestStudentLoss(t *testing.T) {
	n := build(t, 4, net.Dense(1))
	for objective, want := range map[Criticism]func(s, y float64) float64{
		CrossEntropy:     func(s, y float64) float64 { return 1/(1+math.Exp(-s)) - y },
		WassersteinVotes: func(_, y float64) float64 { return 1 - 2*y },
	} {
		s := newStudent(PATEGANConfig{Objective: objective, Learns: LearnsShare, StudentSteps: 1, Student: SGD(1e-9, 0)}, n,
			mechanism.Votes{Teachers: 10, Rows: 3})
		x := net.NewMatrix(3, 4)
		for i := range 12 {
			x.Row(i / 4)[i%4] = float32(i) / 7
		}
		s.learn(x, []int64{2, 12, -1})
		s.score(s.asked)
		for i, y := range []float64{0.2, 1.2, -0.1} {
			score := float64(s.w[4])
			for j, v := range x.Row(i) {
				score += float64(v) * float64(s.w[j])
			}
			if got := float64(s.pass.OutGrad().Row(i)[0]); math.Abs(got-want(score, y)) > 1e-5 {
				t.Errorf("%s: gradient %g at score %g of label %g, want %g", objective, got, score, y, want(score, y))
			}
		}
	}
}

// TestStudentStartsEven: before it has learnt anything it scores all rows alike, so that no
// generator follows its first weights.
func TestStudentStartsEven(t *testing.T) {
	n := build(t, 4, net.Dense(5), net.Activation("batch_norm"), net.Activation("relu"), net.Dense(1))
	s := newStudent(pateCases()["ours"].PATEGANConfig, n, mechanism.Votes{Teachers: 10, Rows: 8})
	s.score(net.NewMatrix(8, 4))
	moves := 0.0
	for i, l := range s.loss {
		moves += math.Abs(float64(s.gradient(net.NewMatrix(8, 4)).Row(i)[0]))
		if math.Abs(l-math.Ln2) > 1e-6 { // softplus(0), labels of 0
			t.Errorf("row %d: loss %g, want ln 2", i, l)
		}
	}
	if hidden := norm(s.w[:20]); moves != 0 || hidden == 0 {
		t.Errorf("gradients %g at rows, must be 0; norm of the first weights %g, must not", moves, hidden)
	}
}

func TestPATEGANRefuses(t *testing.T) {
	rows := normalRows(20, 4, 1)
	nc, ng := wganNets(t)
	run := func(shards [][]int32, change func(*pateCase)) error {
		c := pateCases()["ours"]
		change(&c)
		_, err := PATEGAN(context.Background(), c.PATEGANConfig, nc, ng, rows, shards, c.opened(shards), Hooks{})
		return err
	}
	none := func(*pateCase) {}
	_, unpaid := PATEGAN(context.Background(), pateCases()["ours"].PATEGANConfig, nc, ng, rows, shardsOf(20, 3), nil,
		Hooks{})
	few := pateCases()["ours"]
	_, fewer := PATEGAN(context.Background(), few.PATEGANConfig, nc, ng, rows, shardsOf(20, 3),
		few.opened(shardsOf(20, 2)), Hooks{})
	for want, err := range map[string]error{
		"disjoint":            run([][]int32{{0, 1}, {1}}, none),
		"paid: is missing":    unpaid,
		"teachers paid for 2": fewer,
		"products[1]": run(shardsOf(20, 3), func(c *pateCase) {
			c.PATEGANConfig.Teachers.Products = [][2]int32{{0, 1},
				{4, 0}}
		}),
		"at least 2":     run(shardsOf(20, 3), func(c *pateCase) { c.Rows = 1 }),
		"teachers.votes": run(shardsOf(20, 3), func(c *pateCase) { c.PATEGANConfig.Teachers.Votes = "all" }),
		"logistic.steps": run(shardsOf(20, 3), func(c *pateCase) {
			c.PATEGANConfig.Teachers.Logistic = &Logistic{
				Rate: 1}
		}),
		"learns":    run(shardsOf(20, 3), func(c *pateCase) { c.Learns = "" }),
		"objective": run(shardsOf(20, 3), func(c *pateCase) { c.Objective = "" }),
	} {
		if err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("error %v, must name %s", err, want)
		}
	}
}

// TestPATEGANStops: a loop that is stopped after its fifth step has the weights of one that takes five,
// has seen the exact votes of each, and has used up all that was paid for.
func TestPATEGANStops(t *testing.T) {
	for name, c := range pateCases() {
		rows, shards := normalRows(300, 4, 1), shardsOf(300, 70)
		_, ng := wganNets(t)
		student, _ := wganNets(t)
		run := func(c pateCase) ([]float32, *privacy.Handle) {
			paid := c.opened(shards)
			w, err := PATEGAN(context.Background(), c.PATEGANConfig, student, ng, rows, shards, paid, Hooks{})
			must(err)
			return w, paid
		}
		stopped, fewer, seen := c, c, 0
		stopped.Stop = func(votes []int64) bool {
			for _, n := range votes {
				if n < 0 || n > int64(len(shards)) {
					t.Errorf("%s: %d votes of %d teachers", name, n, len(shards))
				}
			}
			seen++
			return seen == 5
		}
		fewer.Take = 5
		got, paid := run(stopped)
		want, rest := run(fewer)
		same(t, name, want, got)
		if seen != 5 || paid.Close() != nil || rest.Close() == nil {
			t.Errorf("%s: %d steps; a stopped loop leaves %v, one that takes less than is paid for %v", name, seen, paid.Close(),
				rest.Close())
		}
	}
}
