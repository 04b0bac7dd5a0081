package prep

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"

	"weir/pipeline/domain"
	"weir/schema"
)

// config is the grammar: only the functions listed above.
func config() *conf.Config {
	c := conf.CreateNew()
	for name := range c.Builtins {
		if !slices.Contains(functions, name) {
			c.Disabled[name] = true
		}
	}
	return c
}

// resolver turns rank(c), missing(c), parts of dates and col("c") into variables, and days_between(a, b) into a difference.
type resolver struct{ d *domain.Domain }

// Visit implements ast.Visitor.
func (v *resolver) Visit(node *ast.Node) {
	call, ok := (*node).(*ast.CallNode)
	if !ok || len(call.Arguments) < 1 || len(call.Arguments) > 2 {
		return
	}
	callee, ok := call.Callee.(*ast.IdentifierNode)
	if !ok {
		return
	}
	name, named := argument(call.Arguments[0], callee.Value == "col")
	switch {
	case !named:
	case len(call.Arguments) == 2:
		if other, named := argument(call.Arguments[1], false); named {
			if difference := between(callee.Value, name, other); difference != nil {
				ast.Patch(node, difference)
			}
		}
	case callee.Value == "col":
		ast.Patch(node, &ast.IdentifierNode{Value: name})
	case slices.Contains(oneColumn(), callee.Value):
		ast.Patch(node, &ast.IdentifierNode{Value: callee.Value + "\x00" + name})
	}
}

// oneColumn lists the functions of a column, each a form of inputs.
func oneColumn() []string { return append([]string{"rank", "missing"}, calendarParts()...) }

// argument is the column that a call names: an identifier, or for col a text.
func argument(n ast.Node, text bool) (string, bool) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n.Value, !text
	case *ast.StringNode:
		return n.Value, text
	}
	return "", false
}

// checker collects the inputs of a resolved expression and what is wrong with it
// beyond types.
type checker struct {
	ps   *schema.Problems
	path string
	d    *domain.Domain
	e    *expression
}

// Visit implements ast.Visitor.
func (v *checker) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		v.name(n.Value)
	case *ast.CallNode:
		v.ps.Add(v.path, "calling an unknown function", "using "+allFunctions+" only")
	case *ast.VariableDeclaratorNode, *ast.PredicateNode, *ast.PointerNode, *ast.MapNode, *ast.SliceNode, *ast.MemberNode, *ast.ChainNode:
		v.ps.Add(v.path, "using variables, loops, maps or members", "one formula over the columns of a row")
	case *ast.BinaryNode:
		v.binary(n)
	}
}

const allFunctions = "abs, ceil, floor, round, min, max, int, float, rank(column), missing(column), col(\"column\"), " +
	"year, month, day, weekday, hour or minute(column), days_between, hours_between or minutes_between(from, to)"

// binary notes divisions and refuses what compares categories in the order of
// the alphabet, or with values that are no category.
func (v *checker) binary(n *ast.BinaryNode) {
	switch n.Operator {
	case "-":
		v.between(n)
	case "/", "%", "**", "^":
		if _, ours := n.Right.(*ast.ConstantNode); !ours { // an hour is never 0
			v.e.divides = true
		}
	case "..":
		v.ps.Add(v.path, "a range of numbers", "a comparison, such as a >= 1 and a <= 9")
	case "<", ">", "<=", ">=":
		for _, side := range []ast.Node{n.Left, n.Right} {
			if c := v.coded(side); c != nil {
				v.ps.Add(v.path, "comparing the category "+c.Name+" by the alphabet", "rank("+c.Name+"), its place in the declared order")
			}
		}
	case "==", "!=", "in":
		v.literals(n.Left, n.Right)
		v.literals(n.Right, n.Left)
	}
}

// coded is the column with categories that n names, or nil.
func (v *checker) coded(n ast.Node) *domain.Column {
	id, ok := n.(*ast.IdentifierNode)
	if !ok {
		return nil
	}
	c := v.d.Column(id.Value)
	if c == nil || c.Type != domain.Categorical && c.Type != domain.Ordinal {
		return nil
	}
	return c
}

// literals checks the texts that a category is compared with.
func (v *checker) literals(side, values ast.Node) {
	c := v.coded(side)
	if c == nil {
		return
	}
	list := []ast.Node{values}
	if a, ok := values.(*ast.ArrayNode); ok {
		list = a.Nodes
	}
	for _, n := range list {
		if s, ok := n.(*ast.StringNode); ok && !slices.Contains(c.Categories, s.Value) {
			v.ps.Unknown(v.path, "category of "+c.Name, s.Value, c.Categories)
		}
	}
}

// inputOf takes a variable apart.
func inputOf(variable string) input {
	if form, name, is := strings.Cut(variable, "\x00"); is {
		return input{name: name, form: form}
	}
	return input{name: variable, form: "value"}
}

// name notes an input.
func (v *checker) name(variable string) {
	in := inputOf(variable)
	in.place = v.d.Index(in.name)
	if in.place < 0 {
		v.ps.Unknown(v.path, "column of the table", in.name, v.d.Names())
		return
	}
	in.column = v.d.Columns[in.place]
	switch {
	case in.column.Encoding != nil:
		v.ps.Add(v.path, "using the column "+in.name+", which is "+describe(&in.column), "written over columns before their encoding")
	case in.ofCalendar() && !slices.Contains(partsOf(in.column.Type), in.form):
		v.ps.Add(v.path, "asking for the "+in.form+" of "+in.name+", which is "+describe(&in.column), "asking it of a date, a datetime or (hour and minute) a time")
	case in.form == "rank" && !in.column.Type.Coded():
		v.ps.Add(v.path, "asking for the rank of "+in.name+", which is "+describe(&in.column), "asking it of columns with categories")
	case !slices.ContainsFunc(v.e.inputs, func(o input) bool { return o.variable() == in.variable() }):
		v.e.inputs = append(v.e.inputs, in)
	}
}
