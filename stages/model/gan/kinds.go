// Package gan holds the kinds that learn a private table by adversarial nets
// under a budget.
package gan

import (
	"weir/pipeline"
	"weir/stages/model/artifact"
)

// Kinds lists the kinds of this family.
func Kinds() []pipeline.Kind { return []pipeline.Kind{dpWGANKind(), gsWGANKind()} }

// Decoders read what they release.
func Decoders() []artifact.Decoder {
	return []artifact.Decoder{
		{Kind: "dp_wgan", Format: generatorFormat, Decode: decodeGenerator},
		{Kind: "gs_wgan", Format: generatorFormat, Decode: decodeGenerator},
	}
}
