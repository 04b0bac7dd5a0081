// Package anomaly holds the kinds that learn, under a budget, which rows of a table are
// unlike the others, and the kind that takes such rows out.
package anomaly

import (
	"slices"

	"weir/pipeline"
	"weir/stages/model/artifact"
)

// Kinds lists the kinds of this family. Rows are removed by what they release, and by the
// models of other families that read, by their decoders, as what rows are scored by.
func Kinds(models []artifact.ScorerDecoder) []pipeline.Kind {
	return []pipeline.Kind{anomalyDetectorKind(), anomalyForestKind(), removeAnomaliesKind(slices.Concat(Scorers(), models))}
}

// Scorers read what the kinds of this family release.
func Scorers() []artifact.ScorerDecoder {
	return []artifact.ScorerDecoder{{Kind: anomalyDetector, Format: autoencoderFormat, Decode: readAutoencoder},
		{Kind: anomalyForest, Format: forestFormat, Decode: readForest}}
}

// detectorHeader is the header of a detector that looks at the columns of a table.
func detectorHeader(h pipeline.Header) pipeline.Header {
	return pipeline.Header{Form: pipeline.FormDetector, Schema: pipeline.FilesSchema(),
		Domain: &pipeline.Domain{Columns: h.Domain.Clone().Columns}, Class: pipeline.Released, Terms: h.Terms}
}
