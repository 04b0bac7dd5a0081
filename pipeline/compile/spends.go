package compile

import (
	"fmt"
	"reflect"
	"slices"

	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/privacy"
)

// checkSpends holds the mechanisms of a stage against what they run on: nothing
// unbounded unless no proof is claimed, a group as large as what changes, shards for a
// mechanism on shards.
func (c *compiler) checkSpends(s *spec.Stage, in pipeline.Headers, step *Step) {
	if len(step.Work.Spends) == 0 {
		return
	}
	if step.Work.Lazy {
		c.refuse(s.ID, "W14", "a paid stage that is computed anew by each reader",
			"stored once: what is paid for once draws its noise once")
	}
	if c.spec.Privacy.Epsilon.Infinite() {
		c.checkPlanned(s, step, change{rows: 1})
		return
	}
	if classOf(s.Kind, in) != pipeline.Private && !slices.ContainsFunc(step.Work.Files,
		func(f pipeline.FileUse) bool { return !f.Public }) {
		c.warning(pipeline.Finding{Rule: "W43", Level: pipeline.LevelWarning, Stage: s.ID,
			Message: "noise is paid for on what is released or public already: the charge protects nobody, and takes from the " +
				"budget of the stages that need it",
			Fix: "the private table as its input, or a stage without noise on this one (sample, compare_queries, marginals)"})
	}
	after := changeOf(s.Kind, in)
	if after.rows > 1 {
		step.Work.Pricing.Published = nil // a paper's epsilon is about one row
	}
	c.checkProven(s, step)
	c.checkPlanned(s, step, after)
	c.checkShards(s, in)
}

// checkShards refuses more shards than public rows: most would be empty, and what learns
// from them would be paid for and learn nothing.
func (c *compiler) checkShards(s *spec.Stage, in pipeline.Headers) {
	for _, port := range s.Kind.In {
		if h := in[port.Name]; !port.Lends && h.Shards > 0 && h.Rows > 0 && int64(h.Shards) > h.Rows {
			c.refuse(s.ID, "", fmt.Sprintf("a mechanism on %d shards of a table of %d public rows", h.Shards, h.Rows),
				"at most as many shards as rows")
		}
	}
}

// change is what one unit of the source moves in all that a stage reads: so many
// rows, or one of so many shards. It is assumed of an input that may change anywhere: then
// what is computed of it is no bound.
type change struct {
	rows, shards int
	assumed      bool
}

// changeOf adds up the rows that may change over all private tables that the
// stage reads: they come from one source, so one unit may move all of them. Of a table
// that may change anywhere it takes what a paper does: the unit's own rows, or its shard.
func changeOf(k *pipeline.Kind, in pipeline.Headers) change {
	var after change
	add := func(h pipeline.Header) {
		if h.Class != pipeline.Private || h.Form != pipeline.FormTable {
			return
		}
		s := h.Stability
		if !bounded(h) {
			if after.assumed, s = true, pipeline.Rows(max(1, h.Terms.Unit.MaxRows)); h.Shards > 0 {
				s = pipeline.Shards(h.Shards)
			}
		}
		switch {
		case s.Spread == pipeline.SpreadRows:
			after.rows += s.N
		case after.shards == 0:
			after.shards = s.N
		default:
			after.shards = -1 // two sharded tables: a unit may lie in two different shards
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

// checkPlanned prices every spend once, at scale 1, so that what cannot be priced
// is a problem with a place.
func (c *compiler) checkPlanned(s *spec.Stage, step *Step, to change) {
	step.change = to
	names := map[string]bool{}
	for _, spend := range step.Work.Spends {
		if spend.Name == "" {
			c.refuse(s.ID, "W19", "a mechanism without a name", "one charge for each name")
		}
		if names[spend.Name] {
			c.refuse(s.ID, "W19", fmt.Sprintf("two mechanisms named %q", spend.Name), "one charge for each name")
		}
		names[spend.Name] = true
		scale := step.Work.Pricing.Scale
		if scale == 0 {
			scale = 1
		}
		if c.spec.Privacy.Epsilon.Infinite() {
			scale = 0
		}
		if _, err := c.price(step, spend, scale); err != nil {
			c.refuse(s.ID, "W10", fmt.Sprintf("a mechanism (%s) without a price: %v", spend.Name, err),
				"a mechanism that has a bound on what changes here")
		}
	}
}

// price returns a spend at a scale: its mechanism, and the event that bounds it for
// all that one unit changes.
func (c *compiler) price(step *Step, spend pipeline.Spend, scale float64) (pipeline.Planned, error) {
	return step.change.price(spend, scale, c.spec.Privacy.Adjacency)
}

// Price lists the spends of work on inputs of a kind as a bill at the given scale of
// their noise has them. Tests of a single stage pay by it; runs pay by their plan.
func Price(k *pipeline.Kind, in pipeline.Headers, w pipeline.Work, scale float64, adjacency privacy.Adjacency) (
	[]pipeline.Planned, error) {
	list := make([]pipeline.Planned, len(w.Spends))
	for i, spend := range w.Spends {
		p, err := changeOf(k, in).price(spend, scale, adjacency)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", spend.Name, err)
		}
		list[i] = p
	}
	return list, nil
}

func (after change) price(spend pipeline.Spend, scale float64, adjacency privacy.Adjacency) (pipeline.Planned, error) {
	m := spend.Mechanism(scale)
	if !sharesNothing(reflect.TypeOf(m)) {
		return pipeline.Planned{}, fmt.Errorf("%T is no plain value, so what is charged could change before it is drawn", m)
	}
	if err := m.Check(); err != nil {
		return pipeline.Planned{}, err
	}
	p := pipeline.Planned{Value: m, Group: max(1, after.rows),
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
func (after change) event(m privacy.Mechanism, adjacency privacy.Adjacency) (privacy.Event, error) {
	shards, sharded := m.(privacy.OnShards)
	switch {
	case after.shards != 0 && !sharded:
		return nil, fmt.Errorf("it runs on rows, and one changed unit may change a whole shard")
	case after.shards != 0 && (after.shards != shards.Shards() || after.rows > 0):
		return nil, fmt.Errorf("it runs on %d shards, and what the stage reads is not one table of that many",
			shards.Shards())
	case after.shards == 0 && sharded:
		return nil, fmt.Errorf("it runs on shards, and the table has none: put a stage of kind shard before it")
	case sharded:
		return m.Event(adjacency), privacy.Validate(m.Event(adjacency))
	}
	return privacy.Group(m.Event(adjacency), max(1, after.rows))
}

// words say what one unit moves, such as "0.5 (L2) when a row is replaced". Rounds of a
// filter have noise of their own each, in which its sensitivity is measured.
func (after change) words(m privacy.Mechanism, adjacency privacy.Adjacency) string {
	s, in, only := m.Sensitivity(adjacency), "", ""
	if _, rounds := m.(privacy.Filter); rounds {
		in = " in standard deviations of the noise"
	}
	if after.assumed {
		only = ", were that all that changes"
	}
	done := "added or removed"
	if adjacency == privacy.ReplaceOne {
		done = "replaced"
	}
	switch {
	case after.shards != 0:
		return fmt.Sprintf("%s%s when a shard changes%s", s, in, only)
	case after.rows > 1:
		s.Bound *= float64(after.rows)
		return fmt.Sprintf("%s%s when %d rows are %s%s", s, in, after.rows, done, only)
	}
	return fmt.Sprintf("%s%s when a row is %s%s", s, in, done, only)
}
