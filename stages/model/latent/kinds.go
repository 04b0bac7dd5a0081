// Package latent holds the kinds that learn a private table by way of a space of codes
// under a budget.
package latent

import "weir/pipeline"

// Kinds lists the kinds of this family.
func Kinds() []pipeline.Kind {
	return []pipeline.Kind{dpAutoGANKind(), dpVAEKind(), dpSYNKind(), rdpCGANKind()}
}
