package generator

import (
	"slices"

	"weir/pipeline/domain"
	"weir/stages/model/internal/encoded"
	"weir/train/net"
)

// OfLabel is a generator of rows of d with the same weights, whose last layer is blocks that
// say its label in the one-hot column of that place, whatever the others are: no chance and
// no gradient decides which label a row of one generator has.
func OfLabel(n *net.Net, d *domain.Domain, column, label int) (*net.Net, error) {
	return labelled(n, d, column, func(width int) []net.Block { return []net.Block{{Activation: "one_hot", Width: width, Hot: label}} })
}

// WithoutLabel is that generator with zeros in the column, for its training: beside rows
// that have zeros there too (columns.Encoded.RowsWithout).
func WithoutLabel(n *net.Net, d *domain.Domain, column int) (*net.Net, error) {
	return labelled(n, d, column, func(width int) []net.Block { return []net.Block{{Activation: "zeros", Width: width}} })
}

func labelled(n *net.Net, d *domain.Domain, column int, said func(width int) []net.Block) (*net.Net, error) {
	s := n.Spec()
	blocks := encoded.Outputs(d).Blocks
	last := net.Blocks(slices.Concat(blocks[:column], said(blocks[column].Width), blocks[column+1:])...)
	s.Layers = append(slices.Clone(s.Layers[:len(s.Layers)-1]), last)
	return net.New(s)
}
