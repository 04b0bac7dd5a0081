package prep

import (
	"fmt"
	"math"
	"strconv"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"

	"weir/internal/bitmath"
)

// Two operations of expr-lang follow from the processor: powers, which are package math's, in their last bits, and
// int of a number beyond the range of integers. Formulas call functions of ours for both. A row that a filter keeps
// on one machine and drops on another would move the secret draws of all rows behind it, and noise of one name would
// stand on the rows with it and without it (docs/design/secrets.md).

// These functions take the place of ** and ^, and of int. No column has such a name, which holds a control character.
const (
	power = "**\x00"
	whole = "int\x00"
)

// portable makes calls of what follows from the processor.
type portable struct{}

// Visit implements ast.Visitor.
func (portable) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.BinaryNode:
		if n.Operator == "**" || n.Operator == "^" {
			patch(node, power, n.Left, n.Right)
		}
	case *ast.BuiltinNode:
		if n.Name == "int" {
			patch(node, whole, n.Arguments...)
		}
	}
}

func patch(node *ast.Node, name string, arguments ...ast.Node) {
	ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: arguments})
}

// powerOf and wholeOf are the functions power and whole.
func powerOf() expr.Option {
	return expr.Function(power, func(of ...any) (any, error) {
		x, y := number64(of[0]), number64(of[1])
		return bitmath.Pow(x, y), nil
	}, new(func(int, int) float64), new(func(int, float64) float64), new(func(float64, int) float64),
		new(func(float64, float64) float64))
}

func wholeOf() expr.Option {
	return expr.Function(whole, func(of ...any) (any, error) {
		switch x := of[0].(type) {
		case int:
			return x, nil
		case float64:
			return saturated(x), nil
		}
		return strconv.Atoi(fmt.Sprint(of[0]))
	}, new(func(int) int), new(func(float64) int), new(func(string) int))
}

// number64 is the value of a number of a formula, NaN of what is none.
func number64(v any) float64 {
	switch v := v.(type) {
	case int:
		return float64(v)
	case float64:
		return v
	}
	return math.NaN()
}

// saturated is x without its fraction; beyond the integers it is the nearest of them, and 0 of NaN.
func saturated(x float64) int {
	switch {
	case x != x:
		return 0
	case x >= math.MaxInt: // which rounds to 2^63
		return math.MaxInt
	case x <= math.MinInt:
		return math.MinInt
	}
	return int(x)
}
