package latent

import (
	"weir/stages/model/internal/training"
	"weir/train"
)

// ConvolvedAutoencoder is the first phase of rdp_cgan.
type ConvolvedAutoencoder struct {
	training.Sampling `yaml:",inline"`
	Code              int           `yaml:"code" json:"code" min:"1" max:"65536" doc:"Numbers of a code, which the generators make."`
	Encoder           []Convolution `yaml:"encoder,omitempty" json:"encoder,omitempty" maxItems:"64" doc:"Convolutions from a row, a position a column, to a code; by default they follow from the encoded width. A dense layer follows where they do not end in code numbers."`
	Decoder           []Convolution `yaml:"decoder,omitempty" json:"decoder,omitempty" maxItems:"64" doc:"Transposed convolutions from a code, a channel a number, to a row, where again a dense layer follows if they do not end in its width; by default the way of the encoder's default back, for fewer than 64 columns one layer and a dense one."`
	Norm              string        `yaml:"norm" json:"norm" enum:"instance_norm|layer_norm|none" doc:"What layers are normalised by, but for the encoder's first and the last of both: instance_norm over the positions of each channel, as batch norm is with one row a batch; layer_norm over a row."`
	CodeActivation    string        `yaml:"code_activation" json:"code_activation" enum:"relu|tanh|leaky_relu" doc:"Activation of a code, as encoder and generators put it out; leaky_relu has slope 0.2."`
	Loss              string        `yaml:"loss" json:"loss" enum:"likelihood|squares" doc:"Of a row, a sum over its columns: what suits each, such as cross entropy over a one-hot group, or squared errors of what the decoder puts out."`
	LearningRate      float64       `yaml:"learning_rate" json:"learning_rate" exclusiveMin:"0" doc:"Learning rate of Adam (betas 0.9, 0.999)."`
	Average           float64       `yaml:"average" json:"average" min:"0" exclusiveMax:"1" doc:"Decay of the running average of the weights, which is what the second phase starts from; 0 takes the last weights."`
}

// ConvolvedGAN is the second phase of rdp_cgan.
type ConvolvedGAN struct {
	training.Sampling `yaml:",inline"`
	CriticSteps       int           `yaml:"critic_steps" json:"critic_steps" min:"1" doc:"Steps of the critics before each of the generators."`
	LearningRate      float64       `yaml:"learning_rate" json:"learning_rate" exclusiveMin:"0" doc:"Learning rate of the critics, by Adam (betas 0.9, 0.999)."`
	GeneratorRate     float64       `yaml:"generator_rate,omitempty" json:"generator_rate,omitempty" exclusiveMin:"0" doc:"Learning rate of the generators; that of the critics by default."`
	WeightClip        float64       `yaml:"weight_clip" json:"weight_clip" min:"0" doc:"Bound on every weight of a critic; 0 is none."`
	GeneratedBatch    int           `yaml:"generated_batch" json:"generated_batch" min:"2" doc:"Generated rows of a label and step."`
	Average           float64       `yaml:"average" json:"average" min:"0" exclusiveMax:"1" doc:"Decay of the running average of the generators' weights, which is what is released; 0 releases the last weights."`
	LatentDim         int           `yaml:"latent_dim" json:"latent_dim" min:"1" max:"65536" doc:"Dimension of the standard normal vector that a generated row starts from."`
	Generator         []Convolution `yaml:"generator,omitempty" json:"generator,omitempty" maxItems:"64" doc:"Transposed convolutions from that vector, a channel a number, to a code; by default they follow from its length. A dense layer follows where they do not end in one."`
	GeneratorNorm     string        `yaml:"generator_norm" json:"generator_norm" enum:"batch_norm|instance_norm|layer_norm|none" doc:"What the generators' layers but the last are normalised by. Generated rows are public, so that batch_norm may mix them."`
	Critic            []Convolution `yaml:"critic,omitempty" json:"critic,omitempty" maxItems:"64" doc:"Convolutions from a row to its score; by default one over all columns of up to 128, stacked ones of more. A dense layer follows where they do not end in one number."`
	CriticNorm        string        `yaml:"critic_norm" json:"critic_norm" enum:"instance_norm|layer_norm|none" doc:"What the critics' layers but the first and the last are normalised by."`
}

func (g ConvolvedGAN) config(labels, frozen int, shares []float64, seed uint64) train.LabelGANConfig {
	rate := g.GeneratorRate
	if rate == 0 {
		rate = g.LearningRate
	}
	return train.LabelGANConfig{Labels: labels, Shares: shares, Loss: "wasserstein", CriticSteps: g.CriticSteps, GeneratorSteps: 1, WeightClip: g.WeightClip,
		GeneratorBatch: g.GeneratedBatch, Frozen: frozen, Critic: train.Adam(g.LearningRate, 0.9, 0.999), Generator: train.Adam(rate, 0.9, 0.999),
		Average: g.Average, Seed: seed}
}
