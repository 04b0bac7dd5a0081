// Package anomaly holds the kinds that learn, under a budget, which rows of a table are
// unlike the others, and the kind that takes such rows out.
package anomaly

import (
	"context"
	"fmt"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
	"weir/stages/model/internal/training"
	"weir/train"
	"weir/train/net"
)

const anomalyDetector = "anomaly_detector"

// Detector is the detector of Crha 2025 (GANAD), an autoencoder whose error on a row
// says how unlike the others it is, trained by DP-SGD.
//
// Input: a private table of stability rows(c). Mechanism: steps noisy sums of per-example
// gradients of the mean squared error on Poisson samples of rows, all weights of an example
// clipped together to max_grad_norm. Sensitivity: max_grad_norm for one row (twice that
// under replace_one, applied by the accountant; c times for c rows). Adjacency: of the
// spec. Guarantee: as for repeated(steps, poisson_sampled(gaussian)) for all iterates of
// encoder and decoder (Abadi et al. 2016), both of which are released.
//
// The thesis of GANAD clips the mean of a batch instead, takes rows in order and adds the noise of
// one step, without composition: that is Program, under claims: published alone.
type Detector struct {
	training.Settings `yaml:",inline" keys:"steps expected_batch_size sampling_rate max_grad_norm noise_multiplier optimiser learning_rate average checkpoint_every" enum.optimiser:"adam|sgd" doc.optimiser:"Optimiser of the noisy gradients: adam has betas 0.9 and 0.999, sgd no momentum."`

	Program *Program `yaml:"program,omitempty" json:"program,omitempty" doc:"The program of the thesis of GANAD instead of DP-SGD, under claims: published: batches in order, the gradient of each batch's mean clipped to max_grad_norm, plain gradient descent at learning_rate (0.01) from standard normal weights. steps has no part in it."`
}

func anomalyDetectorKind() pipeline.Kind {
	return pipeline.Kind{
		Name: anomalyDetector, Version: 2,
		Doc: "Trains an autoencoder by DP-SGD and releases it as a detector of anomalies. How badly it gives back a row, " +
			"by mean " +
			"squared error, is that row's score. " +
			"Of d numbers that a row becomes, d - floor(d/2) are its hidden units, with a sigmoid before and after. " +
			"Use it before remove_anomalies, with a small part of the budget (privacy.split: {detector: 0.1, train: 0.9}). " +
			"Needs a table of numbers with bounds and of categories, not encoded, of stability rows(c).",
		In:      tableIn(),
		Out:     []pipeline.Port{{Name: "model", Form: pipeline.FormDetector, Doc: "The autoencoder."}},
		Readers: []pipeline.Reader{artifact.ScorerDecoder{Format: autoencoderFormat, Decode: readAutoencoder}},
		New: func() pipeline.Stage {
			return &Detector{Settings: training.Settings{
				Sampling:  training.Sampling{Steps: 2000, ExpectedBatchSize: 500, MaxGradNorm: 0.1},
				Optimiser: "adam", LearningRate: 0.03, Average: 0.9, CheckpointEvery: 2000}}
		},
	}
}

// Plan prices the training.
func (s *Detector) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	if s.Program != nil {
		return s.planProgram(h)
	}
	var ps schema.Problems
	need(h, &ps)
	rate := s.Rate(h, &ps)
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	n, err := autoencoderNet(h.Domain)
	if err == nil {
		err = training.InReach(s.DPSGD(1, rate, n.Params()))
	}
	if err != nil {
		return pipeline.Work{}, err
	}
	out := detectorHeader(h)
	w := releases(out, func(ctx context.Context, env *pipeline.Env, t pipeline.Table) (pipeline.Table, error) {
		weights, err := s.train(ctx, env, t, n)
		if err != nil {
			return pipeline.Table{}, err
		}
		return packAutoencoder(out, n, weights)
	})
	w.Spends = []pipeline.Spend{{Name: training.Spend, Doc: fmt.Sprintf("DP-SGD on the autoencoder, sampling rate %.4g",
		rate),
		Mechanism: func(scale float64) privacy.Mechanism { return s.DPSGD(scale, rate, n.Params()) }}}
	w.Pricing, w.Findings = pipeline.Pricing{Scale: s.NoiseMultiplier}, s.Findings("expected_batch_size", h)
	return w, nil
}

// autoencoderNet returns the net for rows of a domain, as the thesis of GANAD has it: its layers.
func autoencoderNet(d *domain.Domain) (*net.Net, error) {
	in := width(d)
	hidden := in - in/2
	var ps schema.Problems
	training.Fits(&ps, training.Costs("from", fmt.Sprintf("a table whose rows become %d numbers", in),
		float64(training.NetCopies*training.Weights(in, hidden, in))+float64(training.PassCopies*chunk*training.Units(in,
			hidden, in))))
	if err := ps.Err(); err != nil {
		return nil, err
	}
	return net.New(net.Spec{Inputs: in, Layers: []net.Layer{net.Dense(hidden), net.Activation("sigmoid"), net.Dense(in),
		net.Activation("sigmoid")}})
}

// train returns the weights. The table is read before anything is paid.
func (s *Detector) train(ctx context.Context, env *pipeline.Env, t pipeline.Table, n *net.Net) ([]float32, error) {
	o, err := objective(ctx, t, n)
	if err != nil {
		return nil, err
	}
	paid, hooks, err := training.Pay(env, s.CheckpointEvery)
	if err != nil {
		return nil, err
	}
	return train.Fit(ctx, train.FitConfig{Optimiser: s.optimiser(), Average: s.Average}, o, n.Init(env.Rand("weights")),
		o.X.Len(), paid, hooks)
}

// objective returns the loss on the rows of a table.
func objective(ctx context.Context, t pipeline.Table, n *net.Net) (*train.Supervised, error) {
	frame, err := columns.Read(ctx, t)
	if err != nil {
		return nil, err
	}
	rows, err := code(t.Domain, frame)
	if err != nil {
		return nil, err
	}
	return train.Autoencoder(n, rows, net.MSE)
}

func (s *Detector) optimiser() train.Optimiser {
	if s.Optimiser == "sgd" {
		return train.SGD(s.LearningRate, 0)
	}
	return train.Adam(s.LearningRate, 0.9, 0.999)
}

// Kinds lists the kinds of this family.
func Kinds() []pipeline.Kind {
	return []pipeline.Kind{anomalyDetectorKind(), anomalyForestKind(), removeAnomaliesKind()}
}

// tableIn returns the port of what a detector is learned from.
func tableIn() []pipeline.Port {
	return []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "A private table, as it is before encode."}}
}

// releases returns the work of a stage that learns a detector of header out from its table.
func releases(out pipeline.Header, learn func(context.Context, *pipeline.Env, pipeline.Table) (pipeline.Table,
	error)) pipeline.Work {
	return pipeline.Work{Out: pipeline.Headers{"model": out},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			t, err := learn(ctx, env, in["in"])
			return pipeline.Tables{"model": t}, err
		}}
}

// detectorHeader returns the header of a detector that looks at the columns of a table.
func detectorHeader(h pipeline.Header) pipeline.Header {
	return pipeline.Header{Form: pipeline.FormDetector,
		Domain: &domain.Domain{Columns: h.Domain.Clone().Columns}, Class: pipeline.Released, Terms: h.Terms}
}
