package votes

import (
	"fmt"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy/published"
	"weir/schema"
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
	return fmt.Sprintf("of %d generators the one is released from which private rows are predicted best, a choice that nobody pays for", p.Restarts)
}

// restarts is how many generators are trained.
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
		ps.Add("program.epsilon", "given beside noise: "+s.Noise+", or without noise_multiplier", "given beside noise: laplace and a noise_multiplier, whose inverse its accountant takes")
	}
	if p.Epsilon > 0 && !(terms.Delta > 0) {
		ps.Add("program.epsilon", "given under a delta of 0", "given under a privacy.delta above 0, which its accountant needs")
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
		ps.Add("program.column", fmt.Sprintf("%s, of %d categories", p.Column, len(c.Categories)), "a column of two categories")
	}
}

// publishedProgram is what the program takes itself to cost: the epsilon by which it stops, or where its accountant begins
// if that is more.
func (s *PATEGAN) publishedProgram() *pipeline.Published {
	return &pipeline.Published{
		Method: fmt.Sprintf("PATE-GAN, Jordon, Yoon, van der Schaar 2019: the epsilon by which its program stops, on private votes (W21), here for each of %d trainings, of which it counts one", s.restarts()),
		Epsilon: func(_, delta float64) (float64, error) {
			return max(s.Program.Epsilon, (&published.PATEAccountant{Delta: delta}).Epsilon()), nil
		},
	}
}

// stop is the accountant of one training, of so many teachers; nil without a target.
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
