package prep

import (
	"maps"
	"slices"
)

// sorted lists the keys of m in alphabetical order, so that plans do not depend
// on the order of a map.
func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
