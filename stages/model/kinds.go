package model

import (
	"slices"

	"weir/pipeline"
	"weir/stages/model/anomaly"
	"weir/stages/model/gan"
	"weir/stages/model/graphical"
	"weir/stages/model/latent"
	"weir/stages/model/mixture"
	"weir/stages/model/sample"
	"weir/stages/model/tailored"
	"weir/stages/model/votes"
)

// Kinds lists the models of every family, what removes anomalies by them, and sample.
func Kinds() []pipeline.Kind {
	return slices.Concat(gan.Kinds(), graphical.Kinds(), latent.Kinds(), mixture.Kinds(), tailored.Kinds(), votes.Kinds(), anomaly.Kinds(), sample.Kinds())
}
