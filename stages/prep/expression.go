package prep

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"weir/pipeline/domain"
	"weir/schema"
)

// functions lists the functions of the language of derive and filter: expr-lang without any that
// loops, reads a clock or draws at random:
//
//	numbers     int and float as the column; + - * / % ** comparisons ?: in
//	            abs ceil floor round min max int float
//	categories  text as the domain spells it; == != in [..]
//	booleans    true or false (the second category is true)
//	rank(c)     place of the category in the declared order, from 0
//	missing(c)  whether the value of column c is missing
//	year(c)     and other parts of dates and times, and differences of two (functions.go)
//	col("a-b")  the column of a name that is not an identifier
var functions = []string{"abs", "ceil", "floor", "round", "min", "max", "int", "float"}

// expression is a compiled expression over the columns of one domain.
type expression struct {
	source  string
	domain  *domain.Domain
	program *vm.Program
	inputs  []input
	divides bool // finite inputs may give a result that is not finite
	fails   bool // some part has no value for some row
	result  reflect.Kind
	bounds  *[2]float64 // of the result, where they follow from the bounds of the columns
}

// input is a variable of the expression: the value, rank or presence of a column.
type input struct {
	name, form string // form is value, rank, missing, or one of dates and times
	place      int
	column     domain.Column
}

// maxExpression bounds the text of an expression.
const maxExpression = 4096

// compile checks an expression against the columns of d; want is the kind of
// result asked for, reflect.Invalid for any.
func compile(ps *schema.Problems, path, source string, d *domain.Domain, want reflect.Kind) *expression {
	if strings.TrimSpace(source) == "" || len(source) > maxExpression {
		ps.Add(path, fmt.Sprintf("%d characters long", len(source)), fmt.Sprintf("an expression of 1 to %d characters",
			maxExpression))
		return nil
	}
	tree, err := parser.ParseWithConfig(source, config())
	if err != nil {
		ps.Add(path, "not an expression: "+firstLine(err), "such as \"ap_hi - ap_lo\" or \"age >= 18\"")
		return nil
	}
	e, before := &expression{source: source, domain: d}, len(*ps)
	r := &resolver{d: d}
	ast.Walk(&tree.Node, r)
	check := &checker{ps: ps, path: path, d: d, e: e}
	ast.Walk(&tree.Node, check)
	if len(*ps) > before {
		return nil
	}
	e.bounds = known(tree.Node, d)
	return e.build(ps, path, source, d, want)
}

// build compiles with types, once all names are known.
func (e *expression) build(ps *schema.Problems, path, source string, d *domain.Domain, want reflect.Kind) *expression {
	options := []expr.Option{expr.Env(e.sample()), expr.DisableAllBuiltins(), expr.Patch(&resolver{d: d}),
		expr.Patch(portable{}), powerOf(), wholeOf()}
	for _, f := range functions {
		options = append(options, expr.EnableBuiltin(f))
	}
	program, err := expr.Compile(source, options...)
	if err != nil {
		ps.Add(path, "wrong: "+firstLine(err), "an expression whose types fit")
		return nil
	}
	e.program, e.result = program, resultKind(program)
	root := program.Node()
	ast.Walk(&root, &failing{e: e, d: d})
	if want != reflect.Invalid && e.result != want {
		ps.Add(path, "of type "+e.result.String(), "of type "+want.String())
		return nil
	}
	return e
}

// fromUnit names the column of the privacy unit that the expression computes from, or "".
func (e *expression) fromUnit() string {
	for _, in := range e.inputs {
		if of := in.column.FromUnit; of != "" {
			return of
		}
	}
	return ""
}

func resultKind(p *vm.Program) reflect.Kind {
	t := p.Node().Type()
	if t == nil {
		return reflect.Interface
	}
	return t.Kind()
}

// firstLine of an error of expr-lang says what is wrong; the lines after it
// draw the place.
func firstLine(err error) string {
	var at *file.Error
	if errors.As(err, &at) {
		return strings.TrimSpace(strings.ReplaceAll(at.Message, "\x00", ""))
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// sample returns the environment with a value of the right type for each input.
func (e *expression) sample() map[string]any {
	env := map[string]any{}
	for _, in := range e.inputs {
		env[in.variable()] = in.zero()
	}
	return env
}

// variable returns the name inside the expression: no column is called "rank x" with
// a blank that a user could write outside col().
func (in input) variable() string {
	if in.form == "value" {
		return in.name
	}
	return in.form + "\x00" + in.name
}

func (in input) zero() any {
	switch c := in.column; {
	case in.form == "missing", in.form == "value" && c.Type == domain.Boolean:
		return false
	case in.form == "rank" || in.ofCalendar():
		return 0
	case c.Type == domain.Numeric:
		return 0.0
	case c.Type == domain.Integer || c.Type.Calendar():
		return 0
	}
	return ""
}

// nullable reports whether an input can be missing where a value is needed.
func (e *expression) nullable() bool {
	return slices.ContainsFunc(e.inputs, func(in input) bool { return in.form != "missing" && in.column.Nullable })
}

// evaluator computes an expression for the rows of a batch.
type evaluator struct {
	e       *expression
	machine vm.VM
	env     map[string]any
	columns []func(i int) any // nil result: the value is missing
}

func (e *expression) evaluator(r arrow.Record) (*evaluator, error) {
	v := &evaluator{e: e, env: map[string]any{}}
	for _, in := range e.inputs {
		read, err := in.reader(r.Column(in.place))
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", in.name, err)
		}
		v.columns = append(v.columns, read)
	}
	return v, nil
}

// row returns the value for row i, nil where a value that the expression names is
// missing, or where the expression has none (a remainder by zero, the number of a
// text that spells none). No row ends a run: that would tell of its values.
func (v *evaluator) row(i int) any {
	for j, in := range v.e.inputs {
		x := v.columns[j](i)
		if x == nil {
			return nil
		}
		v.env[in.variable()] = x
	}
	out, err := v.machine.Run(v.e.program, v.env)
	if err != nil {
		return nil
	}
	return out
}

// reader gives the input's value in each row.
func (in input) reader(a arrow.Array) (func(i int) any, error) {
	if in.form == "missing" {
		return func(i int) any { return a.IsNull(i) }, nil
	}
	if in.ofCalendar() {
		return in.partReader(a)
	}
	if text, ok := a.(*array.String); ok {
		return guarded(a, func(i int) any { return text.Value(i) }), nil
	}
	if in.column.Type.Coded() {
		from, err := codes(a)
		return guarded(a, func(i int) any { return in.coded(from[i]) }), err
	}
	if a, ok := a.(*array.Int64); ok {
		return guarded(a, func(i int) any { return int(a.Value(i)) }), nil
	}
	values, err := floats(a)
	if in.column.Type == domain.Numeric {
		return guarded(a, func(i int) any {
			if math.IsNaN(values[i]) {
				return nil
			}
			return values[i]
		}), err
	}
	return guarded(a, func(i int) any { return saturated(values[i]) }), err
}

func (in input) coded(code int32) any {
	switch {
	case in.form == "rank":
		return int(code)
	case in.column.Type == domain.Boolean:
		return code == 1
	case int(code) < len(in.column.Categories) && code >= 0:
		return in.column.Categories[code]
	}
	return nil
}

func guarded(a arrow.Array, read func(i int) any) func(i int) any {
	return func(i int) any {
		if a.IsNull(i) {
			return nil
		}
		return read(i)
	}
}

// config returns the grammar: only the functions listed above.
func config() *conf.Config {
	c := conf.CreateNew()
	for name := range c.Builtins {
		if !slices.Contains(functions, name) {
			c.Disabled[name] = true
		}
	}
	return c
}

// resolver turns rank(c), missing(c), parts of dates and col("c") into variables, and days_between(a, b) into a
// difference.
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
			if difference := differenceOf(callee.Value, name, other); difference != nil {
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

// argument returns the column that a call names: an identifier, or for col a text.
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
		v.ps.Add(v.path, fmt.Sprintf("a call of the unknown function %.60q", n.Callee.String()),
			"a formula of the functions "+allFunctions)
	case *ast.VariableDeclaratorNode, *ast.PredicateNode, *ast.PointerNode, *ast.MapNode, *ast.SliceNode, *ast.MemberNode,
		*ast.ChainNode:
		v.ps.Add(v.path, "using variables, loops, maps or members", "one formula over the columns of a row")
	case *ast.BinaryNode:
		v.binary(n)
	}
}

const allFunctions = "abs, ceil, floor, round, min, max, int, float, rank(column), missing(column), col(\"column\"), " +
	"year, month, day, weekday, hour or minute(column), days_between, hours_between or minutes_between(from, to)"

// binary notes divisions and refuses what compares categories in the order of
// the alphabet, or with values that are not a category.
func (v *checker) binary(n *ast.BinaryNode) {
	switch n.Operator {
	case "-":
		v.differenceOf(n)
	case "/", "%", "**", "^":
		if _, ours := n.Right.(*ast.ConstantNode); !ours { // an hour is never 0
			v.e.divides = true
		}
	case "..":
		v.ps.Add(v.path, "a range of numbers", "a comparison, such as a >= 1 and a <= 9")
	case "<", ">", "<=", ">=":
		for _, side := range []ast.Node{n.Left, n.Right} {
			if c := v.coded(side); c != nil {
				v.ps.Add(v.path, "comparing the category "+c.Name+" by the alphabet", "rank("+c.Name+
					"), its place in the declared order")
			}
		}
	case "==", "!=", "in":
		v.literals(n.Left, n.Right)
		v.literals(n.Right, n.Left)
	}
}

// coded returns the column with categories that n names, or nil.
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

// name adds a column that the expression names to its inputs.
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
		v.ps.Add(v.path, "using the column "+in.name+", which is "+describe(&in.column),
			"written over columns before their encoding")
	case in.ofCalendar() && !slices.Contains(partsOf(in.column.Type), in.form):
		v.ps.Add(v.path, "asking for the "+in.form+" of "+in.name+", which is "+describe(&in.column),
			"asking it of a date, a datetime or (hour and minute) a time")
	case in.form == "rank" && !in.column.Type.Coded():
		v.ps.Add(v.path, "asking for the rank of "+in.name+", which is "+describe(&in.column),
			"asking it of columns with categories")
	case !slices.ContainsFunc(v.e.inputs, func(o input) bool { return o.variable() == in.variable() }):
		v.e.inputs = append(v.e.inputs, in)
	}
}
