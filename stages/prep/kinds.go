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
		dpBoundsKind(), dpCategoriesKind(), dpCountKind(),
	}
}

// inverses lists, by kind, how a step of a table's history is undone.
func inverses() map[string]func(*undoing) error {
	return map[string]func(*undoing) error{
		encodeName: undoEncode, discretizeName: undoDiscretize,
		notAvailableName: undoNotAvailable, missingIndicatorName: undoMissingIndicator,
	}
}
