package votes

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy/published"
	"weir/schema"
	"weir/stages/internal/learn"
	"weir/stages/model/internal/training"
	"weir/train"
	"weir/train/net"
)

// Program is the loop of PATE-GAN's program (Jordon, Yoon, van der Schaar 2019) as the thesis of
// GANAD runs it, which goes by private numbers twice; nothing is proven of it.
//
// Epsilon ends a training after the step at whose end its accountant, a function of exact private
// votes, has reached it (W15, W21; docs/accounting.md section 7). That accountant begins at
// ln(1/delta)/20, .5756 at a delta of 1e-5, so that up to there one step is taken whatever is voted.
// Restarts trains several generators and keeps the one from whose rows AdaBoost learns best what the
// private training rows have (W18). The votes are noised and charged all the same; neither choice is.
type Program struct {
	Epsilon  float64 `yaml:"epsilon,omitempty" json:"epsilon,omitempty" exclusiveMin:"0" doc:"Ends a training after the step at whose end the accountant of the paper's program has reached this, on exact private votes; steps is then the most that are taken. At a delta of 1e-5 that accountant begins at .5756: up to there it is one step. Without it all steps are taken."`
	Restarts int     `yaml:"restarts" json:"restarts" required:"true" min:"1" max:"1000" doc:"Generators that are trained. Released is the one from as many of whose rows as there are private ones AdaBoost (50 stumps) learns column best, by AUROC on the private rows themselves; nobody pays for that choice."`
	Column   string  `yaml:"column,omitempty" json:"column,omitempty" format:"column" doc:"With more than one restart: the column of two categories that AdaBoost learns from the others."`
}

// unproven says what of the program has no proof.
func (p *Program) unproven() pipeline.Unproven {
	switch {
	case p == nil || p.Epsilon == 0 && p.Restarts == 1:
		return pipeline.Unproven{}
	case p.Epsilon == 0:
		return pipeline.Unproven{Rule: "W18", Why: p.best()}
	case p.Restarts == 1:
		return pipeline.Unproven{Rule: "W15", Why: untilSpent}
	}
	return pipeline.Unproven{Rule: "W15", Why: untilSpent + "; " + p.best() + " (W18)"}
}

const untilSpent = "training ends by what private votes turn out to cost (W21)"

func (p *Program) best() string {
	return fmt.Sprintf("of %d generators the one is released from which private rows are predicted best, a choice that "+
		"nobody pays for", p.Restarts)
}

// restarts returns how many generators are trained.
func (s *PATEGAN) restarts() int {
	if s.Program == nil {
		return 1
	}
	return s.Program.Restarts
}

// checkProgram adds what the program cannot run with.
func (s *PATEGAN) checkProgram(d *domain.Domain, terms pipeline.Terms, ps *schema.Problems) {
	p := s.Program
	if p == nil {
		return
	}
	if p.Epsilon > 0 && (s.Noise != "laplace" || s.NoiseMultiplier == 0) {
		ps.Add("program.epsilon", "given together with noise: "+s.Noise+", or without noise_multiplier",
			"given together with noise: laplace and a noise_multiplier, whose inverse its accountant takes")
	}
	if p.Epsilon > 0 && !(terms.Delta > 0) {
		ps.Add("program.epsilon", "given under a delta of 0", "given under a privacy.delta above 0, which its accountant "+
			"needs")
	}
	if p.Restarts == 1 {
		if p.Column != "" {
			ps.Add("program.column", p.Column+" with one restart, of which none is chosen", "absent, or restarts above 1")
		}
		return
	}
	switch c := d.Column(p.Column); {
	case c == nil:
		ps.Unknown("program.column", "column", p.Column, d.Names())
	case len(c.Categories) != 2:
		ps.Add("program.column", fmt.Sprintf("%s, of %d categories", p.Column, len(c.Categories)),
			"a column of two categories")
	}
}

// publishedProgram returns what the program takes itself to cost: the epsilon by which it stops, or where its
// accountant begins if that is more.
func (s *PATEGAN) publishedProgram() *pipeline.Published {
	return &pipeline.Published{
		Method: fmt.Sprintf("PATE-GAN, Jordon, Yoon, van der Schaar 2019: the epsilon by which its program stops, on "+
			"private votes (W21), here for each of %d trainings, of which it counts one", s.restarts()),
		Epsilon: func(_, delta float64) (float64, error) {
			return max(s.Program.Epsilon, (&published.PATEAccountant{Delta: delta}).Epsilon()), nil
		},
	}
}

// stop returns the accountant of one training, of the given number of teachers; nil without a target.
func (s *PATEGAN) stop(teachers int, delta float64) func(votes []int64) bool {
	if s.Program == nil || s.Program.Epsilon == 0 {
		return nil
	}
	spent := published.PATEAccountant{Lambda: 1 / s.NoiseMultiplier, Delta: delta}
	return func(votes []int64) bool {
		spent.Add(teachers, votes)
		return !(spent.Epsilon() < s.Program.Epsilon)
	}
}

// published returns the accounting of the paper as far as it is public: for each vote at most
// its data-independent term. The paper charges less where teachers agree, which is a
// function of private votes; only program goes by that number, and it is not shown.
func (s *PATEGAN) published() *pipeline.Published {
	switch {
	case s.Noise != "laplace":
		return nil
	case s.Program != nil && s.Program.Epsilon > 0:
		return s.publishedProgram()
	}
	votes := int64(s.Steps) * int64(s.restarts()) * int64(s.BatchSize)
	return &pipeline.Published{
		Method: "PATE-GAN, Jordon, Yoon, van der Schaar 2019: moments up to order 20, each vote at its data-independent " +
			"term; the paper's own number, at most this, depends on private votes (W21)",
		Epsilon: func(scale, delta float64) (float64, error) {
			return published.PATECeiling(votes, 1/scale, delta, 20), nil
		},
	}
}

// program trains as the program does: several times, each until its accountant ends it, from whose
// generators one is chosen by the private rows. It has no checkpoints.
func (s *PATEGAN) program(ctx context.Context, env *pipeline.Env, l training.Learning, c train.PATEGANConfig, student,
	gen *net.Net, h pipeline.Header) ([]float32, error) {
	seeds, judged, done := env.Rand("restarts"), env.Rand("rival"), int64(0)
	c.Take = s.Steps
	one := func() ([]float32, error) {
		c.Stop = s.stop(h.Shards, h.Terms.Delta)
		w, err := train.PATEGAN(ctx, c, student, gen, l.Rows, l.Shards, l.Paid, train.Hooks{})
		c.Seed = seeds.Uint64()
		done += int64(s.Steps)
		env.Progress(done, int64(s.restarts())*int64(s.Steps))
		return w, err
	}
	if s.restarts() == 1 {
		return one()
	}
	v := newRival(h.Domain, s.Program.Column, l.Rows)
	return best(s.restarts(), one, func(w []float32) (float64, error) { return v.score(ctx, gen, w, judged) })
}

// best is, of so many that are made, the first of the greatest score.
func best(of int, one func() ([]float32, error), score func([]float32) (float64, error)) (found []float32, err error) {
	most := math.Inf(-1)
	for range of {
		w, err := one()
		if err != nil {
			return nil, err
		}
		point, err := score(w)
		if err != nil {
			return nil, err
		}
		if point > most {
			found, most = w, point
		}
	}
	return found, nil
}

// rival judges generators by what can be learned from their rows: AdaBoost of one column, fitted to
// generated rows and scored on the private ones. Its scores are private, and what is chosen by them
// is charged to nobody (W18).
type rival struct {
	real    learn.Matrix
	is      []bool // of private rows: they have the second category
	columns []int  // encoded columns that AdaBoost learns from
	at      int    // of the first encoded column of the label
	width   int    // of the label: one number, of which a half and more is the second category, or two
}

// newRival reads the private rows.
func newRival(d *domain.Domain, label string, rows *train.Rows) *rival {
	v := &rival{}
	for pos, i := 0, 0; i < len(d.Columns); i++ {
		width := d.Columns[i].Encoding.Width
		for j := range width {
			if d.Columns[i].Name == label {
				v.at, v.width = pos, width
			} else {
				v.columns = append(v.columns, pos+j)
			}
		}
		pos += width
	}
	all := net.NewMatrix(rows.Len(), rows.Width())
	index := make([]int32, rows.Len())
	for i := range index {
		index[i] = int32(i)
	}
	rows.Gather(all, index)
	v.real, v.is = v.read(all.Rows, all.Row)
	return v
}

// read takes rows apart into what is learned from and what is learned.
func (v *rival) read(n int, row func(i int) []float32) (x learn.Matrix, positive []bool) {
	x, positive = learn.NewMatrix(n, len(v.columns)), make([]bool, n)
	for i := range n {
		r := row(i)
		for j, c := range v.columns {
			x.Cols[j][i] = float64(r[c])
		}
		positive[i] = v.second(r[v.at : v.at+v.width])
	}
	return x, positive
}

// second says whether a label is the second category.
func (v *rival) second(label []float32) bool {
	if len(label) == 1 {
		return label[0] > middle
	}
	return label[1] > label[0]
}

// middle is halfway between two categories in one column, which are 0 and 1.
const middle = 0.5

// score returns the AUROC of AdaBoost on the private rows; a half where generated rows, or private ones, are of one
// class.
func (v *rival) score(ctx context.Context, gen *net.Net, weights []float32, r *rand.Rand) (float64, error) {
	n := max(v.real.Rows, 2)
	made := train.Generate(gen, weights, n, train.StandardNormal, r)
	x, is := v.read(n, func(i int) []float32 { return made[i*gen.Out() : (i+1)*gen.Out()] })
	y, both := labels(is)
	if !both {
		return 0.5, nil
	}
	fitted, err := learn.AdaBoost{Rounds: 50, Real: true}.Fit(ctx, x, y, learn.Run{Rand: r, Workers: 1})
	if err != nil {
		return 0, err
	}
	area := learn.NewCurve(v.is, fitted.Scores(v.real).Cols[1]).AUROC()
	if math.IsNaN(area) {
		return 0.5, nil
	}
	return area, nil
}

// labels returns classes; both says whether there are two.
func labels(positive []bool) (y learn.Labels, both bool) {
	y = learn.Labels{Y: make([]int, len(positive)), Classes: 2}
	n := 0
	for i, second := range positive {
		if second {
			y.Y[i] = 1
			n++
		}
	}
	return y, n > 0 && n < len(positive)
}
