package latent

import (
	"weir/stages/model/internal/generator"
	"weir/stages/model/internal/training"
	"weir/train"
)

// Autoencoder is the first phase of dp_auto_gan.
type Autoencoder struct {
	training.Sampling `yaml:",inline"`
	Hidden            []int   `yaml:"hidden" json:"hidden" min:"1" doc:"Units of the encoder's hidden layers; the decoder has them in reverse."`
	Code              int     `yaml:"code" json:"code" min:"1" doc:"Dimension of the code, which the generator makes."`
	Activation        string  `yaml:"activation" json:"activation" enum:"leaky_relu|relu|tanh" doc:"After each layer of the encoder and each hidden one of the decoder, and after the generator's last; leaky_relu has slope 0.2."`
	Heads             string  `yaml:"heads" json:"heads" enum:"sigmoid|columns" doc:"What the decoder ends in: a sigmoid for every encoded column, as published, or what suits each, such as a softmax over a one-hot group."`
	Loss              string  `yaml:"loss" json:"loss" enum:"mean|sum" doc:"Cross entropy of a row, over the encoded columns."`
	LearningRate      float64 `yaml:"learning_rate" json:"learning_rate" exclusiveMin:"0" doc:"Learning rate of Adam (betas 0.9, 0.999)."`
	EncoderRate       float64 `yaml:"encoder_rate,omitempty" json:"encoder_rate,omitempty" exclusiveMin:"0" doc:"With noise_on decoder: learning rate of the encoder, whose gradient is the plain sum of a batch; learning_rate over expected_batch_size by default."`
	Average           float64 `yaml:"average" json:"average" min:"0" exclusiveMax:"1" doc:"Decay of the running average of the weights, which is what the second phase starts from; 0 takes the last weights."`
}

// GAN is the second phase of dp_auto_gan.
type GAN struct {
	training.Sampling `yaml:",inline"`
	CriticSteps       int     `yaml:"critic_steps" json:"critic_steps" min:"1" doc:"Critic steps before each step of the generator."`
	Optimiser         string  `yaml:"optimiser" json:"optimiser" enum:"rmsprop|adam" doc:"Optimiser of critic and generator; rmsprop has alpha 0.99, adam betas 0.5 and 0.9."`
	LearningRate      float64 `yaml:"learning_rate" json:"learning_rate" exclusiveMin:"0" doc:"Learning rate of the critic."`
	GeneratorRate     float64 `yaml:"generator_rate,omitempty" json:"generator_rate,omitempty" exclusiveMin:"0" doc:"Learning rate of the generator; that of the critic by default."`
	WeightClip        float64 `yaml:"weight_clip" json:"weight_clip" min:"0" doc:"Bound on every weight of the critic; 0 is none."`
	GeneratedBatch    int     `yaml:"generated_batch" json:"generated_batch" min:"2" doc:"Generated rows of a step: real rows are paired with them at random."`
	Average           float64 `yaml:"average" json:"average" min:"0" exclusiveMax:"1" doc:"Decay of the running average of the generator's weights, which is what is released; 0 releases the last weights."`
	LatentDim         int     `yaml:"latent_dim" json:"latent_dim" min:"1" doc:"Dimension of the standard normal vector that a generated row starts from."`
	Generator         []int   `yaml:"generator" json:"generator" min:"1" doc:"Units of the generator's hidden layers, of slope 0.2 below zero."`
	Norm              string  `yaml:"norm" json:"norm" enum:"batch_norm|layer_norm|none" doc:"What each layer of the generator is normalised by."`
	Residual          bool    `yaml:"residual" json:"residual" doc:"Adds a hidden layer of the generator to its input where both are as wide."`
	Critic            []int   `yaml:"critic" json:"critic" min:"1" minItems:"1" doc:"Units of the critic's hidden layers, of slope 0.2 below zero."`
}

func (a Autoencoder) optimiser() train.Optimiser { return train.Adam(a.LearningRate, 0.9, 0.999) }

// encoderOptimiser is that of an encoder without noise, on the sum of a batch.
func (a Autoencoder) encoderOptimiser() train.Optimiser {
	rate := a.EncoderRate
	if rate == 0 {
		rate = a.LearningRate / a.ExpectedBatchSize
	}
	return train.Adam(rate, 0.9, 0.999)
}

func (g GAN) optimiser(rate float64) train.Optimiser {
	if g.Optimiser == "adam" {
		return train.Adam(rate, 0.5, 0.9)
	}
	return train.RMSProp(rate)
}

func (g GAN) config(frozen int, seed uint64) train.WGANConfig {
	rate := g.GeneratorRate
	if rate == 0 {
		rate = g.LearningRate
	}
	return train.WGANConfig{CriticSteps: g.CriticSteps, GeneratorSteps: 1, WeightClip: g.WeightClip, GeneratorBatch: g.GeneratedBatch,
		Paired: true, Frozen: frozen, Critic: g.optimiser(g.LearningRate), Generator: g.optimiser(rate), Average: g.Average, Seed: seed}
}

func (a Autoencoder) layers(units []int) generator.Hidden {
	return generator.Hidden{Units: units, Activation: a.Activation, Slope: a.slope()}
}

// slope counts for leaky_relu only.
func (a Autoencoder) slope() float64 {
	if a.Activation == "leaky_relu" {
		return leak
	}
	return 0
}

func (g GAN) norm() string {
	if g.Norm == "none" {
		return ""
	}
	return g.Norm
}
