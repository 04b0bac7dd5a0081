// Package gan holds the kinds that learn a private table by adversarial nets
// under a budget.
package gan

import "weir/pipeline"

// Kinds lists the kinds of this family.
func Kinds() []pipeline.Kind { return []pipeline.Kind{dpWGANKind(), gsWGANKind(), dpGANKind()} }
