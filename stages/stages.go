// Package stages is the table of contents of every kind of stage: preparation, models, questions, the report.
//
//go:generate go run weir/cmd/weir/docgen
package stages

import (
	"slices"

	"weir/pipeline"
	"weir/stages/evaluate"
	"weir/stages/model/anomaly"
	"weir/stages/model/gan"
	"weir/stages/model/graphical"
	"weir/stages/model/latent"
	"weir/stages/model/mixture"
	"weir/stages/model/sample"
	"weir/stages/model/tailored"
	"weir/stages/model/votes"
	"weir/stages/plots"
	"weir/stages/prep"
)

// Kinds lists every kind.
func Kinds() []pipeline.Kind {
	return slices.Concat(prep.Kinds(), modelKinds(), evaluate.Kinds(), plots.Kinds())
}

// modelKinds lists the kinds that learn a private table under a budget, a folder a family, what removes anomalies by
// them, and sample, which draws rows from what they release.
func modelKinds() []pipeline.Kind {
	list := slices.Concat(gan.Kinds(), graphical.Kinds(), latent.Kinds(), mixture.Kinds(), tailored.Kinds(), votes.Kinds(),
		anomaly.Kinds(), sample.Kinds())
	for i := range list {
		list[i].Elsewhere = withoutDetector(list[i])
	}
	return list
}

// noLoop is for kinds that learn in no batches, or fit a likelihood of all rows.
const noLoop = "nothing is left out of batches here: anomalies are removed by a stage of kind remove_anomalies, " +
	"before (placement: pre) or after sample (placement: post)"

// withoutDetector says of models whose batches leave no anomalies out where that is done instead.
func withoutDetector(k pipeline.Kind) map[string]string {
	if made := k.Out[0].Form; k.InByKey("detector") != nil || made != pipeline.FormModel && made != pipeline.FormAnswers {
		return k.Elsewhere
	}
	return map[string]string{"remove_anomalies": noLoop, "detector": noLoop}
}
