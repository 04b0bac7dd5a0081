// Package latent holds the kinds that learn a private table in the code space of an
// autoencoder under a budget.
package latent

import (
	"weir/pipeline"
	"weir/stages/model/artifact"
	"weir/stages/model/internal/generator"
)

// Kinds lists the kinds of this family.
func Kinds() []pipeline.Kind { return []pipeline.Kind{dpAutoGANKind()} }

// Decoders read what they release.
func Decoders() []artifact.Decoder { return []artifact.Decoder{generator.Decoder(dpAutoGAN)} }
