package prep

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"

	"weir/internal/bitmath"
	"weir/pipeline/domain"
)

// Dates and times in formulas. year(c), month(c), day(c), weekday(c), hour(c) and minute(c) are parts of one, and
// days_between(a, b), hours_between(a, b) and minutes_between(a, b) what lies from a to b: midnights, or hours and
// minutes with their fractions. Each part is an input of its own form, and a difference one of two inputs of the forms
// days and seconds. Their bounds follow from the bounds of the columns, which are public, and from the calendar.

const (
	secondsOfDay = 24 * 60 * 60
	days         = "days"    // a form of inputs: days since 1970-01-01
	seconds      = "seconds" // a form of inputs: seconds since 1970-01-01T00:00, or since midnight
)

// partsOf lists the forms of inputs that a column of type t has.
func partsOf(t domain.ColumnType) []string {
	switch t {
	case domain.Date:
		return []string{"year", "month", "day", "weekday", days, seconds}
	case domain.Datetime:
		return []string{"year", "month", "day", "weekday", "hour", "minute", days, seconds}
	case domain.Time:
		return []string{"hour", "minute", seconds}
	}
	return nil
}

// calendarParts returns the functions of one column.
func calendarParts() []string { return []string{"year", "month", "day", "weekday", "hour", "minute"} }

// differenceOf returns the difference that a call stands for, nil where it is none. Its divisor is a node that no
// source has, so that it is told from the quotients of a formula, which may have no value.
func differenceOf(function string, a, b string) ast.Node {
	difference := func(form string) ast.Node {
		return &ast.BinaryNode{Operator: "-", Left: &ast.IdentifierNode{Value: form + "\x00" + b},
			Right: &ast.IdentifierNode{Value: form + "\x00" + a}}
	}
	switch function {
	case "days_between":
		return difference(days)
	case "hours_between":
		return &ast.BinaryNode{Operator: "/", Left: difference(seconds), Right: divisor(3600)}
	case "minutes_between":
		return &ast.BinaryNode{Operator: "/", Left: difference(seconds), Right: divisor(60)}
	}
	return nil
}

func divisor(by float64) ast.Node {
	n := &ast.ConstantNode{Value: by}
	n.SetType(reflect.TypeOf(by))
	return n
}

// secondsOf returns a value of a calendar column in seconds.
func secondsOf(t domain.ColumnType, x int64) int64 {
	if t == domain.Date {
		return x * secondsOfDay
	}
	return x
}

// part computes a form of a calendar column. Weekdays are numbered as in ISO 8601, 1 for Monday to 7 for Sunday.
func part(form string, t domain.ColumnType, x int64) int {
	x = secondsOf(t, x)
	instant := time.Unix(x, 0).UTC()
	switch form {
	case "year":
		return instant.Year()
	case "month":
		return int(instant.Month())
	case "day":
		return instant.Day()
	case "weekday":
		return (int(instant.Weekday())+6)%7 + 1
	case "hour":
		return instant.Hour()
	case "minute":
		return instant.Minute()
	case days:
		return int(math.Floor(float64(x) / secondsOfDay))
	}
	return int(x)
}

// partReader gives a form of a calendar column in each row.
func (in input) partReader(a arrow.Array) (func(i int) any, error) {
	t := in.column.Type
	if a, ok := a.(*array.Int64); ok {
		return guarded(a, func(i int) any { return part(in.form, t, a.Value(i)) }), nil
	}
	values, err := floats(a)
	return guarded(a, func(i int) any { return part(in.form, t, int64(saturated(values[i]))) }), err
}

// ofCalendar reports whether an input is a form of dates or times.
func (in input) ofCalendar() bool {
	return in.form == days || in.form == seconds || slices.Contains(calendarParts(), in.form)
}

// differenceOf refuses a difference of what has none: a time of day and a date, an instant and a clock without a zone.
func (v *checker) differenceOf(n *ast.BinaryNode) {
	a, b := v.moment(n.Left), v.moment(n.Right)
	if a != nil && b != nil && ((a.Type == domain.Time) != (b.Type == domain.Time) || (a.Zone == "") != (b.Zone == "")) {
		v.ps.Add(v.path, "a difference of "+b.Name+" and "+a.Name+", which are of no common clock",
			"one of two times of day, or of two dates or date-times, both with a zone or both without")
	}
}

// moment returns the column that a node names in seconds, or nil.
func (v *checker) moment(n ast.Node) *domain.Column {
	id, ok := n.(*ast.IdentifierNode)
	if !ok {
		return nil
	}
	in := inputOf(id.Value)
	if in.form != seconds {
		return nil
	}
	return v.d.Column(in.name)
}

// known returns the bounds of what a resolved formula computes, where the bounds of its columns and the calendar say
// them: a part of a date or time, or a difference of two.
func known(n ast.Node, d *domain.Domain) *[2]float64 {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return knownPart(inputOf(n.Value), d)
	case *ast.BinaryNode:
		other, isQuotient := n.Right.(*ast.ConstantNode)
		if subject := (*[2]float64)(nil); isQuotient && n.Operator == "/" {
			if subject = known(n.Left, d); subject == nil {
				return nil
			}
			return &[2]float64{subject[0] / other.Value.(float64), subject[1] / other.Value.(float64)}
		}
		from, to := known(n.Right, d), known(n.Left, d)
		if n.Operator == "-" && from != nil && to != nil {
			return &[2]float64{to[0] - from[1], to[1] - from[0]}
		}
	}
	return nil
}

// knownPart returns the least and greatest value of an input that is a form of dates or times.
func knownPart(in input, d *domain.Domain) *[2]float64 {
	c := d.Column(in.name)
	if c == nil {
		return nil
	}
	switch in.form {
	case "month":
		return &[2]float64{1, 12}
	case "day":
		return &[2]float64{1, 31}
	case "weekday":
		return &[2]float64{1, 7}
	case "hour":
		return &[2]float64{0, 23}
	case "minute":
		return &[2]float64{0, 59}
	}
	b := c.Bounds
	if c.Type == domain.Time && b == nil {
		b = &[2]float64{0, secondsOfDay - 1}
	}
	if b == nil || !in.ofCalendar() {
		return nil
	}
	return &[2]float64{float64(part(in.form, c.Type, int64(b[0]))), float64(part(in.form, c.Type, int64(b[1])))}
}

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
	return expr.Function(whole, func(values ...any) (any, error) {
		switch x := values[0].(type) {
		case int:
			return x, nil
		case float64:
			return saturated(x), nil
		}
		return strconv.Atoi(fmt.Sprint(values[0]))
	}, new(func(int) int), new(func(float64) int), new(func(string) int))
}

// number64 returns the value of a number of a formula, NaN of what is none.
func number64(v any) float64 {
	switch v := v.(type) {
	case int:
		return float64(v)
	case float64:
		return v
	}
	return math.NaN()
}

// saturated returns x without its fraction; beyond the integers it is the nearest of them, and 0 of NaN.
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
