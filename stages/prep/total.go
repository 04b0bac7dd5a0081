package prep

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/expr-lang/expr/ast"

	"weir/pipeline/domain"
)

// failing finds the parts of a formula that have no value for some row, though no
// input is missing. Quotients are noted where names are (see checker.binary).
type failing struct {
	e *expression
	d *domain.Domain
}

// Visit implements ast.Visitor.
func (v *failing) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.CallNode:
		if of, is := n.Callee.(*ast.IdentifierNode); is && of.Value == whole && !v.reads("int", n.Arguments[0]) {
			v.e.fails = true
		}
	case *ast.BuiltinNode:
		if n.Name == "float" && len(n.Arguments) == 1 && !v.reads(n.Name, n.Arguments[0]) {
			v.e.fails = true
		}
	case *ast.BinaryNode:
		if _, literal := n.Right.(*ast.StringNode); n.Operator == "matches" && !literal {
			v.e.fails = true // a pattern that a value spells may be none
		}
	}
}

// reads reports whether int or float takes whatever n is: a number, or one of
// texts that all spell one.
func (v *failing) reads(to string, n ast.Node) bool {
	if t := n.Type(); t != nil && (t.Kind() == reflect.Int || t.Kind() == reflect.Float64) {
		return true
	}
	list, closed := possible(n, v.d)
	return closed && !slices.ContainsFunc(list, func(s string) bool { return !spells(to, s) })
}

func spells(to, s string) bool {
	if to == "int" {
		_, err := strconv.Atoi(s)
		return err == nil
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// possible lists the texts that n may be; closed is false where nobody knows them.
func possible(n ast.Node, d *domain.Domain) (list []string, closed bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return []string{n.Value}, true
	case *ast.ConditionalNode:
		a, closedA := possible(n.Exp1, d)
		b, closedB := possible(n.Exp2, d)
		return append(a, b...), closedA && closedB
	case *ast.IdentifierNode:
		if c := d.Column(n.Value); c != nil && (c.Type == domain.Categorical || c.Type == domain.Ordinal) {
			return slices.Clone(c.Categories), true
		}
	}
	return nil, false
}

// total reports whether the formula gives column c a value in each row in which
// its inputs have one.
func (e *expression) total(c domain.Column, d *domain.Domain) bool {
	if e.divides || e.fails {
		return false
	}
	if !c.Type.Coded() || e.result == reflect.Bool {
		return true
	}
	list, closed := possible(e.program.Node(), d)
	return closed && !slices.ContainsFunc(list, func(s string) bool { return !slices.Contains(c.Categories, s) })
}
