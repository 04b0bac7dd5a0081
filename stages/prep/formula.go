package prep

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"weir/pipeline/domain"
	"weir/pipeline/relation"
)

// stated returns the formula as an expression over the columns of the input: missing where a value that the formula
// names is missing, as row is. Of text it takes the categories of the formula's column (see formula). An error says in
// words which part of the formula is none of the language of expressions.
func (e *expression) stated(in []relation.Expr, categories ...string) (relation.Expr, error) {
	tree, err := parser.ParseWithConfig(e.source, config())
	if err != nil {
		return nil, err
	}
	ast.Walk(&tree.Node, &resolver{d: e.domain})
	f := &formula{e: e, in: in, categories: categories}
	out, err := f.expr(tree.Node)
	if err != nil {
		return nil, err
	}
	var absent []relation.Expr
	for _, one := range e.inputs {
		if one.form != "missing" {
			absent = append(absent, relation.IsMissing{E: in[one.place]})
		}
	}
	if len(absent) == 0 {
		return out, nil
	}
	missing := relation.Constant{Of: out.Type(), Absent: true}
	return relation.Choice{If: relation.Any{Of: absent}, Then: missing, Else: out}, nil
}

// formula turns the tree of a formula into an expression. In it no value is missing, since whatever the formula names
// is there: what an expression misses stands for NaN.
type formula struct {
	e          *expression
	in         []relation.Expr
	categories []string // of the column that the formula fills: what its texts are codes of
	finite     bool     // the result is compared, or made whole: where a quotient by 0 is infinite, and not missing
}

// expr returns the expression of a node.
func (f *formula) expr(n ast.Node) (relation.Expr, error) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return relation.Constant{Of: relation.Whole, Int: int64(n.Value)}, nil
	case *ast.FloatNode:
		return numeral(n.Value), nil
	case *ast.ConstantNode:
		if by, ok := n.Value.(float64); ok {
			return numeral(by), nil
		}
	case *ast.BoolNode:
		return flagged(n.Value), nil
	case *ast.StringNode:
		return f.text(n.Value)
	case *ast.IdentifierNode:
		return f.input(n.Value)
	case *ast.UnaryNode:
		return f.unary(n)
	case *ast.BinaryNode:
		return f.binary(n)
	case *ast.ConditionalNode:
		return f.choice(n)
	case *ast.BuiltinNode:
		return f.call(n)
	}
	return nil, fmt.Errorf("a part of the formula (%T) is not translated into SQL", n)
}

func numeral(v float64) relation.Expr { return relation.Constant{Of: relation.Real, Float: v} }

func flagged(is bool) relation.Expr {
	if is {
		return relation.Constant{Of: relation.Flag, Int: 1}
	}
	return relation.Constant{Of: relation.Flag}
}

// text returns the code of a category of the column that the formula fills.
func (f *formula) text(v string) (relation.Expr, error) {
	code := slices.Index(f.categories, v)
	if code < 0 {
		return nil, fmt.Errorf("text is translated into SQL as a category alone")
	}
	return coded(int64(code)), nil
}

// input returns a variable.
func (f *formula) input(variable string) (relation.Expr, error) {
	in := inputOf(variable)
	in.place = f.e.domain.Index(in.name)
	c, e := &f.e.domain.Columns[in.place], f.in[in.place]
	switch {
	case in.form == "missing":
		return relation.IsMissing{E: e}, nil
	case in.form == "rank":
		return relation.Rank{E: e, Of: len(c.Categories)}, nil
	case in.form == days && c.Type == domain.Date, in.form == "value" && c.Type.Numbered():
		return e, nil
	case in.form == "value" && c.Type == domain.Boolean:
		return relation.Compare{Op: "==", A: e, B: coded(1)}, nil
	case in.form != "value":
		return nil, fmt.Errorf("%s of %s is not translated into SQL", in.form, in.name)
	}
	return nil, fmt.Errorf("%s is text there, which is translated into SQL in comparisons with categories alone", in.name)
}

func (f *formula) unary(n *ast.UnaryNode) (relation.Expr, error) {
	e, err := f.expr(n.Node)
	if err != nil {
		return nil, err
	}
	switch n.Operator {
	case "!", "not":
		return relation.Not{E: e}, nil
	case "-":
		return arithmetic("*", e, relation.Constant{Of: relation.Whole, Int: -1})
	}
	return e, nil
}

func (f *formula) binary(n *ast.BinaryNode) (relation.Expr, error) {
	switch n.Operator {
	case "and", "&&", "or", "||":
		a, err1 := f.expr(n.Left)
		b, err2 := f.expr(n.Right)
		if n.Operator == "and" || n.Operator == "&&" {
			return relation.All{Of: []relation.Expr{a, b}}, oneOf(err1, err2)
		}
		return relation.Any{Of: []relation.Expr{a, b}}, oneOf(err1, err2)
	case "==", "!=", "in":
		if e, err := f.category(n); e != nil || err != nil {
			return e, err
		}
	}
	switch n.Operator {
	case "==", "!=", "<", "<=", ">", ">=":
		return f.compared(n)
	case "+", "-", "*":
		return f.reckoned(n)
	case "/":
		return f.quotient(n)
	}
	return nil, fmt.Errorf("%s is not translated into SQL", n.Operator)
}

func oneOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// category compares a column of categories with one or several; nil where nothing of the kind is compared.
func (f *formula) category(n *ast.BinaryNode) (relation.Expr, error) {
	side, values := n.Left, n.Right
	c := f.coded(side)
	if c == nil {
		side, values = n.Right, n.Left
		if c = f.coded(side); c == nil {
			return nil, nil
		}
	}
	list := []ast.Node{values}
	if a, ok := values.(*ast.ArrayNode); ok && n.Operator == "in" {
		list = a.Nodes
	}
	either := relation.Any{}
	for _, one := range list {
		s, ok := one.(*ast.StringNode)
		if !ok {
			return nil, fmt.Errorf("%s is compared with something else than a category, which is not translated into SQL",
				c.Name)
		}
		code := coded(int64(slices.Index(c.Categories, s.Value)))
		either.Of = append(either.Of, relation.Compare{Op: "==", A: f.in[f.e.domain.Index(c.Name)], B: code})
	}
	if n.Operator == "!=" {
		return relation.Not{E: either}, nil
	}
	return either, nil
}

// coded returns the column with categories that a node names, or nil.
func (f *formula) coded(n ast.Node) *domain.Column {
	return (&checker{d: f.e.domain}).coded(n)
}

// compared compares numbers: whole ones with each other exactly, all else as real ones. What is missing is NaN, which
// is equal to nothing and in no order.
func (f *formula) compared(n *ast.BinaryNode) (relation.Expr, error) {
	a, err1 := f.bounded(n.Left)
	b, err2 := f.bounded(n.Right)
	if err := oneOf(err1, err2); err != nil {
		return nil, err
	}
	if a.Type() != b.Type() {
		a, b = asReal(a), asReal(b)
	}
	if a.Type() != relation.Whole && a.Type() != relation.Real && a.Type() != relation.Flag {
		return nil, fmt.Errorf("%s of such values is not translated into SQL", n.Operator)
	}
	is := relation.Compare{Op: n.Operator, A: a, B: b}
	return relation.Choice{If: relation.IsMissing{E: is}, Then: flagged(n.Operator == "!="), Else: is}, nil
}

// bounded returns the expression of a node whose infinite values matter.
func (f *formula) bounded(n ast.Node) (relation.Expr, error) {
	before := f.finite
	f.finite = true
	e, err := f.expr(n)
	f.finite = before
	return e, err
}

func asReal(e relation.Expr) relation.Expr {
	if e.Type() == relation.Whole {
		return relation.AsReal{E: e}
	}
	return e
}

func (f *formula) reckoned(n *ast.BinaryNode) (relation.Expr, error) {
	a, err1 := f.expr(n.Left)
	b, err2 := f.expr(n.Right)
	if err := oneOf(err1, err2); err != nil {
		return nil, err
	}
	return arithmetic(n.Operator, a, b)
}

// arithmetic returns a sum, difference or product.
func arithmetic(op string, a, b relation.Expr) (relation.Expr, error) {
	if a.Type() != b.Type() {
		a, b = asReal(a), asReal(b)
	}
	if t := a.Type(); t != b.Type() || t != relation.Whole && t != relation.Real {
		return nil, fmt.Errorf("%s of such values is not translated into SQL", op)
	}
	e := relation.Arithmetic{Op: op, A: a, B: b}
	return e, relation.Arithmetical(e)
}

// quotient divides real numbers. A quotient by 0, which is infinite, is missing as an expression: the same where it
// goes on to a column by sums and products alone, since no column holds what is not finite.
func (f *formula) quotient(n *ast.BinaryNode) (relation.Expr, error) {
	a, err1 := f.expr(n.Left)
	b, err2 := f.bounded(n.Right)
	if err := oneOf(err1, err2); err != nil {
		return nil, err
	}
	if c, constant := b.(relation.Constant); f.finite && !(constant && (c.Float != 0 || c.Int != 0)) {
		return nil, fmt.Errorf("a quotient whose divisor may be 0 is translated into SQL where it is the result alone")
	}
	return relation.Arithmetic{Op: "/", A: asReal(a), B: asReal(b)}, nil
}

func (f *formula) choice(n *ast.ConditionalNode) (relation.Expr, error) {
	cond, err1 := f.bounded(n.Cond)
	yes, err2 := f.expr(n.Exp1)
	other, err3 := f.expr(n.Exp2)
	if err := oneOf(err1, err2, err3); err != nil {
		return nil, err
	}
	if yes.Type() != other.Type() {
		return nil, fmt.Errorf("a choice of values of two types is not translated into SQL")
	}
	return relation.Choice{If: cond, Then: yes, Else: other}, nil
}

// call returns a function: float, and int of what is NaN is 0.
func (f *formula) call(n *ast.BuiltinNode) (relation.Expr, error) {
	if n.Name != "int" && n.Name != "float" || len(n.Arguments) != 1 {
		return nil, fmt.Errorf("%s is not translated into SQL", n.Name)
	}
	e, err := f.bounded(n.Arguments[0])
	switch {
	case err != nil:
		return nil, err
	case n.Name == "float":
		return asReal(e), nil
	case e.Type() == relation.Whole:
		return e, nil
	case e.Type() != relation.Real:
		return nil, fmt.Errorf("int of such values is not translated into SQL")
	}
	zero := relation.Constant{Of: relation.Whole}
	return relation.Choice{If: relation.IsMissing{E: e}, Then: zero, Else: relation.Truncate{E: e}}, nil
}

// stated returns the maker as an expression.
func (c Derived) stated(e *expression, col domain.Column) stated {
	return func(in []relation.Expr) (relation.Expr, error) {
		if col.Type == domain.Text || e.result == reflect.String && !col.Type.Coded() {
			return nil, fmt.Errorf("text is not translated into SQL")
		}
		v, err := e.stated(in, col.Categories...)
		if err != nil {
			return nil, err
		}
		switch {
		case col.Type == domain.Boolean:
			return relation.Choice{If: relation.IsMissing{E: v}, Then: relation.Constant{Of: relation.Code, Absent: true},
				Else: relation.Choice{If: v, Then: coded(1), Else: coded(0)}}, nil
		case col.Type.Coded():
			return v, nil
		case col.Type == domain.Numeric:
			v = asReal(v)
		}
		return heldTo(col, v), nil
	}
}

// heldTo states inside: a number held to the bounds of a column. What is not finite is missing there, or what inside
// has in its place where the column has no missing values.
func heldTo(c domain.Column, v relation.Expr) relation.Expr {
	lower, upper := -math.MaxFloat64, math.MaxFloat64
	if c.Bounds != nil {
		lower, upper = c.Bounds[0], c.Bounds[1]
	}
	stored := relation.Clip{E: v, Least: lower, Greatest: upper}
	if v.Type() == relation.Whole {
		return stored
	}
	if c.Nullable {
		finite := relation.Within{E: v, Least: -math.MaxFloat64, Greatest: math.MaxFloat64}
		return relation.Choice{If: relation.IsMissing{E: finite}, Then: relation.Constant{Of: relation.Real, Absent: true},
			Else: stored}
	}
	return relation.Choice{If: relation.IsMissing{E: v}, Then: numeral(min(max(0, lower), upper)), Else: stored}
}

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
func (v *failing) reads(target string, n ast.Node) bool {
	if t := n.Type(); t != nil && (t.Kind() == reflect.Int || t.Kind() == reflect.Float64) {
		return true
	}
	list, closed := possible(n, v.d)
	return closed && !slices.ContainsFunc(list, func(s string) bool { return !spells(target, s) })
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
