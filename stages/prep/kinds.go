package prep

import "weir/pipeline"

// Kinds lists every kind of this package.
func Kinds() []pipeline.Kind {
	return []pipeline.Kind{
		readKind(),
		selectKind(), dropKind(), filterKind(), deriveKind(),
		boundsKind(), notAvailableKind(), missingIndicatorKind(), imputeConstantKind(), imputeKNNKind(),
		discretizeKind(), encodeKind(), decodeKind(),
		splitKind(), shardKind(), writeKind(),
	}
}
