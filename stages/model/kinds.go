package model

import "weir/pipeline"

// Kinds lists the models, and sample.
func Kinds() []pipeline.Kind {
	return []pipeline.Kind{dpWGANKind(), gsWGANKind(), sampleKind()}
}
