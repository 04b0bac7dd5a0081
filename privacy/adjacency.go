package privacy

import "fmt"

// Adjacency says which two tables count as neighbours. It is part of every
// epsilon: a number without it means nothing.
type Adjacency string

const (
	AddRemove  Adjacency = "add_remove"  // one unit is added or removed; the row count is private
	ReplaceOne Adjacency = "replace_one" // one unit is exchanged for another; the row count is public
)

// ParseAdjacency returns the adjacency named s.
func ParseAdjacency(s string) (Adjacency, error) {
	switch a := Adjacency(s); a {
	case AddRemove, ReplaceOne:
		return a, nil
	}
	return "", fmt.Errorf("adjacency: is %q, must be add_remove or replace_one", s)
}
