// Package graphical holds the kinds that measure noisy marginals of a private table
// and fit a graphical model to them. A front end that they share releases every column
// and makes it a few codes (front.go); what a kind adds is which marginals it measures.
// All leave one form of model, which draws rows (release.go, draw.go).
package graphical

import (
	"context"

	"weir/pipeline"
	"weir/stages/model/artifact"
)

// Kinds lists the kinds of this family: those that learn from a table, and those that
// read what was released.
func Kinds() []pipeline.Kind {
	return append(learning(), autoKind(), marginalsFromKind(), scoreKind(), intervalsKind(), measuredKind())
}

// learning lists the kinds that measure a private table.
func learning() []pipeline.Kind {
	return []pipeline.Kind{marginalTreeKind(), independentKind(), mstKind(), aimKind(), privBayesKind()}
}

// readers read what they release, as a model and as what rows are scored by.
func readers() []pipeline.Reader {
	return []pipeline.Reader{artifact.Decoder{Format: format, Decode: decode}, artifact.ScorerDecoder{Format: format, Decode: decodeScorer}}
}

// ours reads models of this family.
func ours(ctx context.Context, t pipeline.Table) (*released, error) {
	m, err := artifact.Read[artifact.Model](ctx, t, pipeline.ReadersOf(Kinds()))
	if err != nil {
		return nil, err
	}
	return m.(*released), nil
}
