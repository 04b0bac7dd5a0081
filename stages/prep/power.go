package prep

import (
	"fmt"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"

	"weir/internal/bitmath"
)

// Powers of a formula are computed by bitmath: those of expr-lang are package math's, whose last bits follow
// from the processor. A row that a filter keeps on one and drops on the other would move the secret draws of
// all rows behind it, and stand under one noise with and without it (docs/design/secrets.md).

// power names the function that ** and ^ become. No column has its name: that of one holds no control character.
const power = "**\x00"

// powers makes calls of ** and ^.
type powers struct{}

// Visit implements ast.Visitor.
func (powers) Visit(node *ast.Node) {
	if n, ok := (*node).(*ast.BinaryNode); ok && (n.Operator == "**" || n.Operator == "^") {
		ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: power}, Arguments: []ast.Node{n.Left, n.Right}})
	}
}

// raised is the function power.
func raised() expr.Option {
	return expr.Function(power, func(of ...any) (any, error) {
		x, err := float(of[0])
		if err != nil {
			return nil, err
		}
		y, err := float(of[1])
		return bitmath.Pow(x, y), err
	}, new(func(int, int) float64), new(func(int, float64) float64), new(func(float64, int) float64), new(func(float64, float64) float64))
}

// float is the value of a number of a formula.
func float(v any) (float64, error) {
	switch v := v.(type) {
	case int:
		return float64(v), nil
	case float64:
		return v, nil
	}
	return 0, fmt.Errorf("is a %T, must be a number", v)
}
