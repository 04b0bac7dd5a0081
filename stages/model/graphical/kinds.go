// Package graphical holds the kinds that measure noisy marginals of a private table
// and fit a graphical model to them. A front end that they share releases every column
// and makes it a few codes (front.go); what a kind adds is which marginals it measures.
// All leave one form of model, which draws rows (release.go, draw.go).
package graphical

import (
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

// Decoders read what they release; auto releases a model of the kind that it takes.
func Decoders() []artifact.Decoder {
	list := []artifact.Decoder{{Kind: fromName, Format: format, Decode: decode}}
	for _, kind := range learning() {
		list = append(list, artifact.Decoder{Kind: kind.Name, Format: format, Decode: decode})
	}
	return list
}
