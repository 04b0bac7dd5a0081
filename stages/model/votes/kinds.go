// Package votes holds the kinds that learn a private table by noisy votes of teachers on
// disjoint shards.
package votes

import "weir/pipeline"

// Kinds lists the kinds of this family.
func Kinds() []pipeline.Kind { return []pipeline.Kind{pateGANKind()} }
