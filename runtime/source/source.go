// Package source holds the sources of rows that weir knows, a file each: their settings in a spec, what is known of
// them before they are opened, and how they are opened. Nothing else knows one of them from another
// (pipeline.Source).
package source

import "weir/pipeline"

// Kinds lists every source, in the order in which they are shown.
func Kinds() []pipeline.SourceKind {
	return []pipeline.SourceKind{fileKind(), demoKind(), databaseKind()}
}
