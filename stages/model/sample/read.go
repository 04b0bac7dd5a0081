package sample

import (
	"context"
	"slices"

	"weir/pipeline"
	"weir/stages/model/artifact"
	"weir/stages/model/gan"
	"weir/stages/model/graphical"
	"weir/stages/model/latent"
	"weir/stages/model/mixture"
	"weir/stages/model/votes"
)

// Read reads a released model of any family.
func Read(ctx context.Context, t pipeline.Table) (artifact.Model, error) {
	return artifact.Read(ctx, t, decoders())
}

// decoders lists every model that can be read back. A new family adds a line.
func decoders() []artifact.Decoder {
	return slices.Concat(gan.Decoders(), graphical.Decoders(), latent.Decoders(), mixture.Decoders(), votes.Decoders())
}
