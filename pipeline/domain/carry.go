package domain

import (
	"maps"
	"slices"
)

// Carry takes out the rules of d that mean nothing any more, d being made from a table of
// domain from: those about a column that is gone, or whose values stand for something
// else. What a step does to values beside that it says by Lift and its like.
func (d *Domain) Carry(src *Domain) {
	d.Constraints = dropRules(d.Constraints, func(c Constraint) bool {
		return slices.ContainsFunc(c.Columns(), func(name string) bool {
			return !sameMeaning(d.Column(name),
				src.Column(name))
		})
	})
}

// sameMeaning tells whether a value stands for the same in both columns. Bounds, step
// and missing values may have changed: they say which values there are.
func sameMeaning(a, b *Column) bool {
	if a == nil || b == nil {
		return false
	}
	return a.Type == b.Type && a.Encoding == nil && b.Encoding == nil && slices.Equal(a.Categories, b.Categories)
}

func dropRules(list []Constraint, gone func(Constraint) bool) []Constraint {
	left := slices.DeleteFunc(slices.Clone(list), gone)
	if len(left) == 0 {
		return nil
	}
	return left
}

// Suspend takes out the rules about some columns until the step that changes them, yet to
// be remembered, is undone.
func (d *Domain) Suspend(names ...string) {
	d.Constraints = dropRules(d.Constraints, namesAny(names))
}

// Lift takes out the rules about some columns for good: the columns hold other values
// from here on.
func (d *Domain) Lift(names ...string) { d.lift(namesAny(names)) }

func namesAny(names []string) func(Constraint) bool {
	return func(c Constraint) bool {
		return slices.ContainsFunc(c.Columns(), func(name string) bool { return slices.Contains(names, name) })
	}
}

// LiftTotals takes out all public counts: rows have been left out by their values.
func (d *Domain) LiftTotals() {
	d.lift(func(c Constraint) bool { return len(c.Total) > 0 })
}

// LiftMissing removes public counts on the named columns, and rules that list missing among their values: no later row
// lacks a value there.
func (d *Domain) LiftMissing(names ...string) {
	touched := namesAny(names)
	d.lift(func(c Constraint) bool {
		return touched(c) &&
			(len(c.Total) > 0 || slices.ContainsFunc(names, func(name string) bool { return d.namesMissing(c, name) }))
	})
}

func (d *Domain) lift(missing func(Constraint) bool) {
	d.Constraints = dropRules(d.Constraints, missing)
	for i, step := range d.History {
		if step.Before != nil && slices.ContainsFunc(step.Before.Constraints, missing) {
			before := step.Before.Clone()
			before.Constraints = dropRules(before.Constraints, missing)
			d.History[i].Before = before
		}
	}
}

// namesMissing tells whether a combination or a function names missing for a column.
func (d *Domain) namesMissing(c Constraint, name string) bool {
	column := d.Column(name)
	list := slices.Clone([]string(c.Impossible[name]))
	if f := c.Function; f != nil && f.Of == name {
		list = slices.AppendSeq(list, maps.Keys(f.Map))
	}
	if f := c.Function; f != nil && f.Column == name {
		for _, value := range f.Map {
			list = append(list, string(value))
		}
	}
	return column != nil && slices.ContainsFunc(list, column.SpellsMissing)
}

// MissingWord is how a rule names a missing value, unless a category has that name.
const MissingWord = "missing"

// SpellsMissing tells whether a rule means a missing value by a text: the word, the empty
// text, or what the file writes.
func (c *Column) SpellsMissing(text string) bool {
	return !slices.Contains(c.Categories, text) && (text == MissingWord || text == "" || slices.Contains(c.Missing, text))
}
