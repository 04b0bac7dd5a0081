// Package tailored holds the kinds that answer declared questions about a private table
// under a budget, each by the mechanism that suits it, where other models release rows
// that any question can be asked of (docs/design/tailored.md).
package tailored

import "weir/pipeline"

// Kinds lists the kinds of this family.
func Kinds() []pipeline.Kind {
	return []pipeline.Kind{queryKind(), covarianceKind(), logisticKind(), poissonKind()}
}
