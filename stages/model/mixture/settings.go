package mixture

import (
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/model/artifact"
	"weir/stages/model/internal/training"
	"weir/train/posterior"
)

// Shape says what a mixture is of: what a plan and a released model have in common.
type Shape struct {
	Components int               `yaml:"components" json:"components" min:"1" max:"1000" doc:"Components of a stratum's mixture. More follow the rows more closely and cost more noise."`
	Families   map[string]string `yaml:"families,omitempty" json:"families,omitempty" format:"columns" doc:"Law of a column of numbers inside a component: beta on its declared bounds (the default), normal on them, or poisson for whole numbers, counted from the lower bound. Categories have one of their own: bernoulli for two, else categorical."`
	Prior      posterior.Prior   `yaml:"prior" json:"prior" doc:"What is known before any row; uniform but for numbers by default."`
	Stratify   []string          `yaml:"stratify,omitempty" json:"stratify,omitempty" format:"columns" doc:"Columns of categories each combination of whose values has a mixture of its own. How many rows have each is released, with noise, for sizes_share of the budget; rows are drawn in these proportions."`
	Structural []Structural      `yaml:"structural,omitempty" json:"structural,omitempty" doc:"Values that columns have in some strata without exception, by public knowledge: they are not learned, and rows are drawn with them."`
}

// Structural fixes columns in some strata.
type Structural struct {
	Where map[string]domain.Choice `yaml:"where" json:"where" required:"true" doc:"Values by column of stratify: the strata that the rule is about."`
	Set   map[string]schema.Text   `yaml:"set" json:"set" required:"true" doc:"The one value of each column there: a category, a number, or missing."`
}

// Mixture is the model of Jalko, Lagus, Tan, Honkela 2021 (Privacy-preserving data sharing
// via probabilistic modelling), learned by DP variational inference.
//
// Input: a private table of plain columns, of stability rows(c). Mechanisms:
//
//  1. steps noisy sums of the gradients of rows' log likelihoods for the parameters of all
//     strata at once (posterior.Objective, train.FitMeanField), each row with one coin a step
//     and one clip, max_grad_norm, over all parameters. Sensitivity: max_grad_norm for one
//     row, twice that under replace_one, also for a row that moves between strata: one
//     removal and one addition.
//  2. with stratify, one histogram of the rows of each stratum, over the product of declared
//     categories. Sensitivity: 1 under add_remove, sqrt 2 under replace_one, where a row
//     leaves one stratum and joins another.
//
// Adjacency: of the spec. Guarantee: that of repeated(steps, poisson_sampled(gaussian)) and
// gaussian together, for all that is released: the law of every parameter and the noisy sizes.
// Which strata fall back to the prior is a function of the noisy sizes and of settings.
type Mixture struct {
	training.Sampling `yaml:",inline"`
	Shape             `yaml:",inline"`
	SizesShare        float64 `yaml:"sizes_share" json:"sizes_share" exclusiveMin:"0" exclusiveMax:"1" doc:"With stratify: share of the sizes of strata in the squared privacy loss of the stage."`
	LearningRate      float64 `yaml:"learning_rate" json:"learning_rate" exclusiveMin:"0" max:"1" doc:"Learning rate of Adam, with betas 0.9 and 0.999."`
	Average           float64 `yaml:"average" json:"average" min:"0" exclusiveMax:"1" doc:"Decay of the running average of the law of the parameters, which is what is released; 0 releases the last one."`
	CheckpointEvery   int     `yaml:"checkpoint_every" json:"checkpoint_every" min:"1" doc:"Steps between private checkpoints, from which an interrupted run continues."`
}

const (
	mixtureName = "mixture"
	sizesSpend  = "sizes"
)

func mixtureKind() pipeline.Kind {
	return pipeline.Kind{
		Name: mixtureName, Version: 2, Late: true,
		Doc: "Learns a mixture of components whose columns are independent, by DP variational inference (Jalko et al. 2021), and releases the law of its parameters. " +
			"Rows are drawn from the posterior predictive, each with parameters of its own. Knowledge can be built in: strata with a mixture each, values that are fixed in some, priors. " +
			"Use it where columns are many and categories few, such as wide tables of yes and no, or where strata are what matters. Takes the table as it is after cleaning, not encoded, of stability rows(c); numbers may be cut before (discretize). Takes bounds that a stage of the same run releases (dp_bounds), not categories.",
		In:      []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "A private table of categories and bounded numbers."}},
		Out:     []pipeline.Port{{Name: "model", Form: pipeline.FormModel, Doc: "The law of the parameters, and the sizes of strata."}},
		Readers: []pipeline.Reader{artifact.Decoder{Format: format, Decode: decode}, artifact.ScorerDecoder{Format: format, Decode: decodeScorer}},
		New: func() pipeline.Stage {
			return &Mixture{Sampling: training.Sampling{Steps: 4000, ExpectedBatchSize: 300, MaxGradNorm: 1}, Shape: Shape{Components: 10, Prior: posterior.Uniform()},
				SizesShare: 0.05, LearningRate: 0.03, Average: 0.999, CheckpointEvery: 5000}
		},
	}
}
