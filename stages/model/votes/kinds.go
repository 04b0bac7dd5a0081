// Package votes holds the kinds that learn a private table by noisy votes of teachers on
// disjoint shards.
package votes

import (
	"weir/pipeline"
	"weir/stages/model/artifact"
	"weir/stages/model/internal/generator"
)

// Kinds lists the kinds of this family.
func Kinds() []pipeline.Kind { return []pipeline.Kind{pateGANKind()} }

// Decoders read what they release.
func Decoders() []artifact.Decoder { return []artifact.Decoder{generator.Decoder("pate_gan")} }
