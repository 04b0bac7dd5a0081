package bill

import (
	"fmt"
	"reflect"

	"weir/pipeline"
	"weir/privacy"
)

// Change is what one unit of the source moves in all that a stage reads: a number of
// rows, or one of several shards. It is assumed of an input that may change anywhere: then
// what is computed of it is no bound.
type Change struct {
	Rows, Shards int
	Assumed      bool
}

// ChangeOf adds up the rows that may change over all private tables that the
// stage reads: they come from one source, so one unit may move all of them. Of a table
// that may change anywhere it takes what a paper does: the unit's own rows, or its shard.
func ChangeOf(k *pipeline.Kind, in pipeline.Headers) Change {
	var after Change
	add := func(h pipeline.Header) {
		if h.Class != pipeline.Private || h.Form != pipeline.FormTable {
			return
		}
		s := h.Stability
		if !h.Stability.Bounded() {
			if after.Assumed, s = true, pipeline.Rows(max(1, h.Terms.Unit.MaxRows)); h.Shards > 0 {
				s = pipeline.Shards(h.Shards)
			}
		}
		switch {
		case s.Spread == pipeline.SpreadRows:
			after.Rows += s.N
		case after.Shards == 0:
			after.Shards = s.N
		default:
			after.Shards = -1 // two sharded tables: a unit may lie in two different shards
		}
	}
	for _, port := range k.In {
		if !port.Lends {
			add(in[port.Name])
			for _, h := range in.All(port.Name) {
				add(h)
			}
		}
	}
	return after
}

// Price lists the spends of work on inputs of a kind as a bill at the given scale of
// their noise has them. Tests of a single stage pay by it; runs pay by their plan.
func Price(k *pipeline.Kind, in pipeline.Headers, w pipeline.Work, scale float64, adjacency privacy.Adjacency) (
	[]pipeline.Planned, error) {
	list := make([]pipeline.Planned, len(w.Spends))
	for i, spend := range w.Spends {
		p, err := ChangeOf(k, in).Price(spend, scale, adjacency)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", spend.Name, err)
		}
		list[i] = p
	}
	return list, nil
}

// Price returns a spend at a scale: its mechanism, and the event that bounds it for all that one unit changes.
func (after Change) Price(spend pipeline.Spend, scale float64, adjacency privacy.Adjacency) (pipeline.Planned, error) {
	m := spend.Mechanism(scale)
	if !sharesNothing(reflect.TypeOf(m)) {
		return pipeline.Planned{}, fmt.Errorf("%T is not a plain value, so what is charged could change before it is drawn",
			m)
	}
	if err := m.Check(); err != nil {
		return pipeline.Planned{}, err
	}
	p := pipeline.Planned{Value: m, Group: max(1, after.Rows),
		Line: privacy.Line{Name: spend.Name, Mechanism: spend.Doc, Sensitivity: after.words(m, adjacency), Uses: m.Uses()}}
	if scale == 0 {
		return p, nil
	}
	event, err := after.event(m, adjacency)
	p.Event = privacy.JSON{Event: event}
	return p, err
}

// sharesNothing reports whether values of a type are numbers, words and structs of them:
// nothing that two copies share.
func sharesNothing(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64, reflect.Int, reflect.Int32, reflect.Int64,
		reflect.Uint64:
		return true
	case reflect.Array:
		return sharesNothing(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !sharesNothing(t.Field(i).Type) {
				return false
			}
		}
		return true
	}
	return false
}

// event returns the mechanism's event for all that one unit changes.
func (after Change) event(m privacy.Mechanism, adjacency privacy.Adjacency) (privacy.Event, error) {
	shards, sharded := m.(privacy.OnShards)
	switch {
	case after.Shards != 0 && !sharded:
		return nil, fmt.Errorf("it runs on rows, and one changed unit may change a whole shard")
	case after.Shards != 0 && (after.Shards != shards.Shards() || after.Rows > 0):
		return nil, fmt.Errorf("it runs on %d shards, and what the stage reads is not one table of that many",
			shards.Shards())
	case after.Shards == 0 && sharded:
		return nil, fmt.Errorf("it runs on shards, and the table has none: put a stage of kind shard before it")
	case sharded:
		return m.Event(adjacency), privacy.Validate(m.Event(adjacency))
	}
	return privacy.Group(m.Event(adjacency), max(1, after.Rows))
}

// words says what one unit moves, such as "0.5 (L2) when a row is replaced". Rounds of a
// filter have noise of their own each, in which its sensitivity is measured.
func (after Change) words(m privacy.Mechanism, adjacency privacy.Adjacency) string {
	s, in, only := m.Sensitivity(adjacency), "", ""
	if _, rounds := m.(privacy.Filter); rounds {
		in = " in standard deviations of the noise"
	}
	if after.Assumed {
		only = ", were that all that changes"
	}
	done := "added or removed"
	if adjacency == privacy.ReplaceOne {
		done = "replaced"
	}
	switch {
	case after.Shards != 0:
		return fmt.Sprintf("%s%s when a shard changes%s", s, in, only)
	case after.Rows > 1:
		s.Bound *= float64(after.Rows)
		return fmt.Sprintf("%s%s when %d rows are %s%s", s, in, after.Rows, done, only)
	}
	return fmt.Sprintf("%s%s when a row is %s%s", s, in, done, only)
}
