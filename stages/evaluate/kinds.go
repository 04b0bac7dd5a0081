package evaluate

import "weir/pipeline"

// Kinds lists the kinds of this room.
func Kinds() []pipeline.Kind {
	return []pipeline.Kind{marginalsKind(), associationsKind(), projectionKind(), detectabilityKind(), disclosureKind(), downstreamKind(), dimensionKind(), regressionKind(), reportKind()}
}
