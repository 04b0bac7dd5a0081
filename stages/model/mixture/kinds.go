// Package mixture holds the kind that learns a private table as a mixture of components whose
// columns are independent, by variational inference under a budget.
package mixture

import "weir/pipeline"

// Kinds lists the kinds of this family.
func Kinds() []pipeline.Kind { return []pipeline.Kind{mixtureKind()} }
