// Package mixture holds the kind that learns a private table as a mixture of components whose
// columns are independent, by variational inference under a budget.
package mixture

import (
	"weir/pipeline"
	"weir/stages/model/artifact"
)

// Kinds lists the kinds of this family.
func Kinds() []pipeline.Kind { return []pipeline.Kind{mixtureKind()} }

// Decoders read what they release.
func Decoders() []artifact.Decoder {
	return []artifact.Decoder{{Kind: mixtureName, Format: format, Decode: decode}}
}
