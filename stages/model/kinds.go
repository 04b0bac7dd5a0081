package model

import (
	"slices"

	"weir/pipeline"
	"weir/stages/model/anomaly"
	"weir/stages/model/artifact"
	"weir/stages/model/gan"
	"weir/stages/model/graphical"
	"weir/stages/model/latent"
	"weir/stages/model/mixture"
	"weir/stages/model/sample"
	"weir/stages/model/tailored"
	"weir/stages/model/votes"
)

// scorers lists the models by which rows can be scored: those that tell how probable a row
// is. A net that generates rows does not.
func scorers() []artifact.ScorerDecoder {
	return slices.Concat(graphical.Scorers(), mixture.Scorers())
}

// Kinds lists the models of every family, what removes anomalies by them, and sample.
func Kinds() []pipeline.Kind {
	list := slices.Concat(gan.Kinds(), graphical.Kinds(), latent.Kinds(), mixture.Kinds(), tailored.Kinds(), votes.Kinds(), anomaly.Kinds(scorers()), sample.Kinds())
	for i := range list {
		list[i] = readsDetectors(list[i])
	}
	return list
}

// noLoop is for kinds that learn in no batches, or fit a likelihood of all rows.
const noLoop = "nothing is left out of batches here: anomalies are removed by a stage of kind remove_anomalies, before (placement: pre) or after sample (placement: post)"

// readsDetectors hands the decoders of all detectors to a kind whose batches may leave
// anomalies out: families do not know each other's. Other models say where else it is done.
func readsDetectors(k pipeline.Kind) pipeline.Kind {
	type reader interface {
		KnowDecoders([]artifact.ScorerDecoder)
	}
	fresh := k.New
	_, reads := fresh().(reader)
	if made := k.Out[0].Form; !reads && (made == pipeline.FormModel || made == pipeline.FormAnswers) {
		k.Elsewhere = map[string]string{"remove_anomalies": noLoop, "detector": noLoop}
	}
	if reads {
		k.New = func() pipeline.Stage {
			s := fresh()
			s.(reader).KnowDecoders(slices.Concat(anomaly.Scorers(), scorers()))
			return s
		}
	}
	return k
}
