// Package gan holds the kinds that learn a private table by adversarial nets
// under a budget.
package gan

import (
	"weir/pipeline"
	"weir/stages/model/artifact"
	"weir/stages/model/internal/generator"
)

// Kinds lists the kinds of this family.
func Kinds() []pipeline.Kind { return []pipeline.Kind{dpWGANKind(), gsWGANKind(), dpGANKind()} }

// Decoders read what they release.
func Decoders() []artifact.Decoder {
	return []artifact.Decoder{
		generator.Decoder("dp_wgan"), generator.FormerDecoder("dp_wgan"),
		generator.Decoder("gs_wgan"), generator.FormerDecoder("gs_wgan"),
		generator.Decoder("dp_gan"),
	}
}
