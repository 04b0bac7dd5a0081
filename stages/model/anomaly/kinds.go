// Package anomaly holds the kinds that learn, under a budget, which rows of a table are
// unlike the others, and the kind that takes such rows out.
package anomaly

import (
	"weir/pipeline"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
)

// Kinds lists the kinds of this family.
func Kinds() []pipeline.Kind {
	return []pipeline.Kind{anomalyDetectorKind(), anomalyForestKind(), removeAnomaliesKind()}
}

// scorer is a released detector, read back. Rows are scored from released numbers and
// public facts alone.
type scorer interface {
	// Domain has the columns that it looks at.
	Domain() *pipeline.Domain
	// Scores has a number for each row of a frame with those columns, the higher the less
	// the row is like those that the detector learned from; never NaN. It is a function of
	// the row alone, to the last bit: neither the other rows nor its place have a say.
	Scores(f *columns.Frame) ([]float64, error)
}

// decoders read what the kinds of this family release.
func decoders() []artifact.DecoderOf[scorer] {
	return []artifact.DecoderOf[scorer]{{Kind: anomalyDetector, Format: autoencoderFormat, Decode: readAutoencoder},
		{Kind: anomalyForest, Format: forestFormat, Decode: readForest}}
}

// detectorHeader is the header of a detector that looks at the columns of a table.
func detectorHeader(h pipeline.Header) pipeline.Header {
	return pipeline.Header{Form: pipeline.FormDetector, Schema: pipeline.FilesSchema(),
		Domain: &pipeline.Domain{Columns: h.Domain.Clone().Columns}, Class: pipeline.Released, Terms: h.Terms}
}
