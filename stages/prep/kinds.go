// Package prep holds the kinds that prepare a table for a model and the way
// back from a model's numbers to the values of the source.
//
// Every kind states its effect on stability (docs/design.md section 3). Kinds that work
// row by row with public parameters are lazy: they change batches as they are
// read, in constant memory. Records they return own their memory through Go's
// garbage collector; releasing them is allowed and not needed.
package prep

import (
	"weir/pipeline"
)

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
