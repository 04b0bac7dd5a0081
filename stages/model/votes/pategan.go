// Package votes holds the kinds that learn a private table by noisy votes of teachers on
// disjoint shards.
package votes

import (
	"context"
	"fmt"
	"slices"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/schema"
	"weir/stages/model/internal/training"
	"weir/train"
	"weir/train/net"
)

// PATEGAN is PATE-GAN (Jordon, Yoon, van der Schaar 2019) with votes that are charged
// whatever they are.
//
// Input: an encoded private table of stability shards(k), the label a column like any
// other. Mechanism: at each step the counts of teachers, one a shard, that take a generated
// row for a real one, with noise (mechanism.Votes). Sensitivity: a changed shard changes
// one teacher, which moves each count by 1, under either adjacency. Guarantee: as for
// steps times batch_size such counts, fixed ahead; the noise follows from the budget.
//
// The paper charges what its votes turn out to be and stops when that reaches the budget:
// both depend on private votes (W21; docs/accounting.md section 7). program does that, and
// chooses among restarts by private scores, without a proof.
type PATEGAN struct {
	training.Settings `yaml:",inline" keys:"steps batch_size noise noise_multiplier logistic teacher_features target teacher_votes student_learns student_loss student_steps student student_norm optimiser learning_rate weight_clip generator_rate average latent_dim generator generator_activation start_weights program remove_anomalies checkpoint_every" doc.steps:"Steps of the generator; in each the teachers vote on batch_size generated rows." max.batch_size:"1000000" doc.batch_size:"Generated rows that are voted on in a step." doc.noise_multiplier:"Standard deviation (laplace: scale) of the noise on a count of votes, which one shard moves by 1; calibrated to the budget by default." enum.optimiser:"adam|rmsprop" doc.optimiser:"Optimiser of student and generator: Adam (betas 0.5, 0.9), or RMSProp, the paper's." doc.learning_rate:"Learning rate of the student." doc.weight_clip:"Largest absolute weight of the student; 0 is no limit." doc.generator_rate:"Learning rate of the generator." minItems.generator:"1"`
	Noise             string `yaml:"noise" json:"noise" enum:"gaussian|laplace" doc:"Law of the noise on a count of votes. laplace is the paper's and costs more wherever there are many votes."`
	PATETeachers      `yaml:",inline"`
	PATEStudent       `yaml:",inline"`
	StartWeights      string   `yaml:"start_weights" json:"start_weights" enum:"uniform|normal" doc:"Weights that the generator begins with: uniform within one over the root of a unit's inputs, or normal with a variance of two over them and offsets of zero, as the paper's program has them."`
	Program           *Program `yaml:"program,omitempty" json:"program,omitempty" doc:"The loop of the paper's program, which stops by private votes and chooses among generators by private rows; nothing is proven of it, so that it needs claims: published or none."`
}

// PATETeachers are settings of the teachers.
type PATETeachers struct {
	Logistic        *Logistic `yaml:"logistic,omitempty" json:"logistic,omitempty" doc:"Makes teachers logistic regressions, as in the paper. By default they are linear discriminants, which follow from the means of a shard at once."`
	TeacherFeatures string    `yaml:"teacher_features" json:"teacher_features" enum:"columns|pairs" doc:"What a teacher's score is linear in: the encoded columns, as in the paper, or also products of two of them, without which no teacher sees how columns vary and depend on each other."`
	Target          string    `yaml:"target,omitempty" json:"target,omitempty" format:"column" doc:"With teacher_features pairs: products are those with this column, and squares of numbers. Votes say more of what predicts it, and nothing of how other columns depend on each other. Every pair by default."`
	TeacherVotes    string    `yaml:"teacher_votes" json:"teacher_votes" enum:"real|half" doc:"Which rows a teacher votes for: those that it takes for real, as in the paper, or the half of the batch that it finds most like its rows, which tells something of rows that are far from real, too."`
}

// Logistic are settings of teachers that are logistic regressions.
type Logistic struct {
	Steps   int     `yaml:"steps" json:"steps" required:"true" min:"1" max:"1000000" doc:"Steps of Adam on all rows of its shard, and as much weight of generated ones, that a teacher takes before each vote, from where it was."`
	Rate    float64 `yaml:"rate" json:"rate" required:"true" exclusiveMin:"0" doc:"Learning rate."`
	Penalty float64 `yaml:"penalty" json:"penalty" required:"true" min:"0" doc:"Weight of squared weights: 1/C of scikit-learn's logistic regression."`
}

// PATEStudent are settings of the net that learns from votes.
type PATEStudent struct {
	StudentLearns string `yaml:"student_learns" json:"student_learns" enum:"share|majority" doc:"What the student learns of a row: the noisy share of votes for it, or whether that is above a half, as in the paper."`
	StudentLoss   string `yaml:"student_loss" json:"student_loss" enum:"cross_entropy|wasserstein" doc:"Loss of the student: cross-entropy, or the difference of mean scores, as in the paper's program, which wants a weight_clip."`
	StudentSteps  int    `yaml:"student_steps" json:"student_steps" min:"1" max:"1000000" doc:"Steps of the student on the votes of a step; they cost nothing."`
	Student       []int  `yaml:"student" json:"student" min:"1" minItems:"1" doc:"Units of the student's hidden layers, of ReLU."`
	StudentNorm   string `yaml:"student_norm" json:"student_norm" enum:"none|batch" doc:"Whether the student's hidden layers normalise their batch. It has seen generated rows alone, so that mixing them costs nothing."`
}

func pateGANKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "pate_gan", Version: 2,
		Doc: "Generator against a student of teachers' noisy votes (PATE-GAN). Trains a generator against a student that " +
			"learns from noisy votes of teachers on disjoint shards (PATE-GAN, " +
			"Jordon et al. 2019). " +
			"Votes are charged whatever they are, so that the epsilon is known before the run; steps inside a shard, such as " +
			"impute_knn with scope shard, cost nothing. " +
			"With logistic, teacher_features columns, teacher_votes real, noise laplace, student_learns majority and " +
			"student_loss wasserstein it is the paper's algorithm at its proven price; program ends it as the paper's program " +
			"does, with no epsilon proven. " +
			"Use it where a GAN is wanted and noise should not grow with its nets: 500 to 2,000 shards of some ten rows or " +
			"more. Of wide tables (Adult, ACS: about a hundred encoded columns) it learned single columns and pairs worse " +
			"than independent; five student_steps at a learning_rate of 0.001 were better on ACS, and not enough. Of 35,000 " +
			"rows (Cardio) it learned the label at epsilon 1, and at 0.1 nothing sure of it. Needs an encoded table of " +
			"stability shards(k).",
		In: []pipeline.Port{{Name: "in", Form: pipeline.FormTable,
			Doc: "An encoded private table in shards, each with a teacher."}, training.DetectorPort()},
		Out:     []pipeline.Port{{Name: "model", Form: pipeline.FormModel, Doc: "The generator."}},
		Readers: training.Readers(),
		New: func() pipeline.Stage {
			return &PATEGAN{Noise: "gaussian", StartWeights: "uniform",
				PATETeachers: PATETeachers{TeacherFeatures: "pairs", TeacherVotes: "half"},
				PATEStudent: PATEStudent{StudentLearns: "share", StudentLoss: "cross_entropy", StudentSteps: 1,
					Student: []int{64}, StudentNorm: "batch"},
				Settings: training.Settings{Sampling: training.Sampling{Steps: 3000}, BatchSize: 64, Optimiser: "adam",
					LearningRate: 3e-4, GeneratorRate: 3e-5, Average: 0.999, LatentDim: 32, Generator: []int{128},
					GeneratorActivation: "leaky_relu", CheckpointEvery: 500}}
		},
	}
}

// Plan prices the votes.
func (s *PATEGAN) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	var ps schema.Problems
	training.NeedEncoded(h, &ps)
	training.Readable(h, &ps)
	if h.Shards == 0 {
		ps.Refuse("W22", "from", "a table without shards", "a table of stability shards(k): put a stage of kind shard before")
	}
	s.checkCombinations(&ps)
	s.checkProgram(h.Domain, h.Terms, &ps)
	s.CheckRemoval(in, &ps, training.Batch{Setting: "batch_size", Rows: float64(s.BatchSize)})
	if s.Target != "" && h.Domain.Column(s.Target) == nil {
		ps.Unknown("target", "column", s.Target, h.Domain.Names())
	}
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	student, gen, err := s.nets(h.Domain, h.Shards)
	if err != nil {
		return pipeline.Work{}, err
	}
	out := training.ModelHeader(h)
	return pipeline.Work{
		Out: pipeline.Headers{"model": out},
		Spends: []pipeline.Spend{{Name: training.Spend, Doc: fmt.Sprintf("votes of %d teachers on %d generated rows a "+
			"step, %s noise", h.Shards, s.BatchSize, s.Noise),
			Mechanism: func(scale float64) privacy.Mechanism { return s.votes(scale, h.Shards) }}},
		Pricing: pipeline.Pricing{Scale: s.NoiseMultiplier, Published: s.published(), Unproven: s.UnprovenBeside(in,
			s.Program.unproven())},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			weights, err := s.train(ctx, env, in, h.Shards, student, gen)
			if err != nil {
				return nil, err
			}
			model, err := training.Release(out, "pate_gan", training.Part{Share: 1, Net: gen, Weights: weights})
			return pipeline.Tables{"model": model}, err
		},
	}, nil
}

// checkCombinations adds the settings that contradict each other.
func (s *PATEGAN) checkCombinations(ps *schema.Problems) {
	if s.BatchSize == 1 && (s.TeacherVotes == "half" || s.StudentNorm == "batch") {
		ps.Add("batch_size", "1 with teacher_votes half or student_norm batch, which leave nothing of a single row",
			"at least 2, or teacher_votes real and student_norm none")
	}
	if s.Target != "" && s.TeacherFeatures == "columns" {
		ps.Add("target", s.Target+" with teacher_features columns, which have no products",
			"absent, or teacher_features pairs")
	}
	if s.WeightClip > 0 && s.StudentNorm == "batch" {
		ps.Add("weight_clip", fmt.Sprintf("%g with student_norm batch, whose variances it would cut", s.WeightClip),
			"0, or student_norm none")
	}
}

// votes returns the one value from which counts, noise and event come.
func (s *PATEGAN) votes(multiplier float64, teachers int) mechanism.Votes {
	return mechanism.Votes{NoiseMultiplier: multiplier, Law: mechanism.VoteLaw(s.Noise), Teachers: teachers,
		Rows: s.BatchSize, Steps: int64(s.Steps) * int64(s.restarts())}
}

// train returns the generator's weights; the teachers stay here.
func (s *PATEGAN) train(ctx context.Context, env *pipeline.Env, in pipeline.Tables, teachers int, student,
	gen *net.Net) ([]float32, error) {
	h := in["in"].Header
	l, err := training.Begin(ctx, env, in["in"], teachers, s.CheckpointEvery, s.LeftOut(env, in))
	if err != nil {
		return nil, err
	}
	c := s.config(h.Domain, env.Rand("training").Uint64())
	c.Worst = l.Worst
	if s.Program == nil {
		return train.PATEGAN(ctx, c, student, gen, l.Rows, l.Shards, l.Paid, l.Hooks)
	}
	return s.program(ctx, env, l, c, student, gen, h)
}

func (s *PATEGAN) config(d *domain.Domain, seed uint64) train.PATEGANConfig {
	return train.PATEGANConfig{
		Teachers: s.teachers(d),
		Learns:   train.Label(s.StudentLearns), Objective: train.Criticism(s.StudentLoss), WeightClip: s.WeightClip,
		StudentSteps: s.StudentSteps,
		Student:      s.optimiser(s.LearningRate), Generator: s.optimiser(s.GeneratorRate), Average: s.Average,
		NormalStart: s.StartWeights == "normal", Seed: seed}
}

func (s *PATEGAN) teachers(d *domain.Domain) train.TeacherConfig {
	c := train.TeacherConfig{Votes: train.Ballot(s.TeacherVotes), Products: s.products(d)}
	if s.Logistic != nil {
		c.Logistic = &train.Logistic{Steps: s.Logistic.Steps, Rate: s.Logistic.Rate, Penalty: s.Logistic.Penalty}
	}
	return c
}

func (s *PATEGAN) optimiser(rate float64) train.Optimiser {
	if s.Optimiser == "rmsprop" {
		return train.RMSProp(rate)
	}
	return train.Adam(rate, 0.5, 0.9)
}

// leak is the slope of a leaky generator below zero, as of GANs on images (Radford et al. 2016).
const leak = 0.2

// nets returns the nets of the settings, if a training of the given number of teachers can hold them.
func (s *PATEGAN) nets(d *domain.Domain, teachers int) (student, gen *net.Net, err error) {
	var ps schema.Problems
	training.Shallow(&ps, "student", s.Student)
	training.Shallow(&ps, "generator", s.Generator)
	width := training.Width(d)
	features := float64(s.features(d))
	c, g := training.Widths(width, s.Student, 1), training.Widths(1, s.Generator, width)
	training.Fits(&ps, training.Costs("generator", fmt.Sprint(s.Generator), training.NetCopies*training.Weights(g...)),
		training.Costs("latent_dim", fmt.Sprint(s.LatentDim),
			float64(s.LatentDim)*(float64(training.NetCopies*float64(g[1]))+
				float64(training.PassCopies*float64(s.BatchSize)))),
		training.Costs("student", fmt.Sprint(s.Student), training.NetCopies*training.Weights(c...)),
		training.Costs("teacher_features", fmt.Sprintf("%s, %.0f for each of %d teachers", s.TeacherFeatures, features,
			teachers), teacherCopies*float64(teachers)*features),
		training.Costs("batch_size", fmt.Sprint(s.BatchSize), training.PassCopies*float64(s.BatchSize)*(features+
			training.Units(g...)+training.Units(c...))))
	if err := ps.Err(); err != nil {
		return nil, nil, err
	}
	hidden := training.Leaky(leak, s.Generator)
	if s.GeneratorActivation != "leaky_relu" {
		hidden.Activation, hidden.Slope = s.GeneratorActivation, 0
	}
	judge := training.Hidden{Units: s.Student, Activation: "relu"}
	if s.StudentNorm == "batch" {
		judge.Norm = "batch_norm"
	}
	if student, err = training.Critic(judge, d); err != nil {
		return nil, nil, err
	}
	gen, err = training.Generator(hidden, s.LatentDim, d)
	return student, gen, err
}

// teacherCopies of a teacher's weight: where it is, two moments, those in a checkpoint, a gradient.
const teacherCopies = 7

// features returns how many numbers a teacher's score is linear in, its offset among them.
func (s *PATEGAN) features(d *domain.Domain) int { return training.Width(d) + s.pairs(d, nil) + 1 }

// products returns the products of two encoded columns, but for two of one one-hot group: of a real
// row they say nothing, and of a generated one only that it is not yet drawn. With a target
// they are the squares of numbers, and the products with the target's columns.
func (s *PATEGAN) products(d *domain.Domain) (list [][2]int32) {
	s.pairs(d, func(i, j int) { list = append(list, [2]int32{int32(i), int32(j)}) })
	return list
}

// pairs gives the places of the columns of each product, and counts them.
func (s *PATEGAN) pairs(d *domain.Domain, give func(i, j int)) (n int) {
	if s.TeacherFeatures == "columns" {
		return 0
	}
	var owner []int
	for c, column := range d.Columns {
		owner = append(owner, slices.Repeat([]int{c}, column.Encoding.Width)...)
	}
	for i := range owner {
		for j := range i + 1 {
			if s.multiplied(d, owner[i], owner[j]) {
				n++
				if give != nil {
					give(i, j)
				}
			}
		}
	}
	return n
}

// multiplied says whether encoded columns of table columns a and b have a product.
func (s *PATEGAN) multiplied(d *domain.Domain, a, b int) bool {
	if a == b {
		return d.Columns[a].Encoding.Form != domain.OneHot
	}
	return s.Target == "" || d.Columns[a].Name == s.Target || d.Columns[b].Name == s.Target
}

// Kinds lists the kinds of this family.
func Kinds() []pipeline.Kind { return []pipeline.Kind{pateGANKind()} }
