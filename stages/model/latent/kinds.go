// Package latent holds the kinds that learn a private table by way of a space of codes
// under a budget.
package latent

import (
	"weir/pipeline"
	"weir/stages/model/artifact"
	"weir/stages/model/internal/generator"
)

// Kinds lists the kinds of this family.
func Kinds() []pipeline.Kind {
	return []pipeline.Kind{dpAutoGANKind(), dpVAEKind(), dpSYNKind(), rdpCGANKind()}
}

// Decoders read what they release.
func Decoders() []artifact.Decoder {
	return []artifact.Decoder{generator.Decoder(dpAutoGAN), generator.Decoder("dp_vae"), generator.Decoder("dp_syn"), generator.Decoder(rdpCGAN)}
}
