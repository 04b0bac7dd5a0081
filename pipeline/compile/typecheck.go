package compile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/spec"
)

// checkOutputs holds a stage's outputs against the privacy types: nothing
// leaves private without a charge, no mechanism runs on an input whose change
// is unbounded, and without privacy everything learned stays private.
func (c *compiler) checkOutputs(s *spec.Stage, in pipeline.Headers, step *Step) {
	class := classOf(s.Kind, in)
	for _, f := range step.Work.Files {
		if !f.Public {
			class = pipeline.Private
		}
	}
	paid := len(step.Work.Spends) > 0
	for _, port := range s.Kind.Out {
		h, ok := step.Work.Out[port.Name]
		if !ok {
			c.refuse(s.ID, "W31", "without a header for its output "+port.Name, "a stage that plans every output")
			continue
		}
		h.Terms = c.source()
		if paid && c.spec.Privacy.Epsilon.Infinite() {
			h.Class = h.Class.Join(class)
		}
		if class == pipeline.Private && h.Class != pipeline.Private && !paid {
			c.refuse(s.ID, "W13", "an output of class "+string(h.Class)+" computed from private rows without a charge",
				"paid for by a charge, or private")
		}
		step.Work.Out[port.Name] = h
		step.Outputs[port.Name] = describe(h)
	}
	first := step.Work.Out[s.Kind.Out[0].Name]
	step.Class = first.Class
	if step.Work.Send != nil && first.Class == pipeline.Private {
		c.refuse(s.ID, "W13", "a table of a server that private rows are written to",
			"a stage behind a released table, such as one that sample draws")
	}
	if first.Class == pipeline.Private && first.Form == pipeline.FormTable {
		step.Stability = first.Stability.String()
	}
}

// checkUnit refuses a model of a column that tells whose a row is, under whatever name. What else takes the table
// may need the column: split and shard keep the rows of a unit together by it.
func (c *compiler) checkUnit(s *spec.Stage) {
	if made := s.Kind.Out[0].Form; made != pipeline.FormModel && made != pipeline.FormDetector {
		return
	}
	for _, port := range s.Kind.In {
		if port.Lends {
			continue
		}
		for _, r := range s.Inputs[port.Name] {
			h, _ := c.header(r)
			if columns := h.UnitColumns(); len(columns) > 0 {
				name := strings.Join((&domain.Domain{Columns: columns}).Names(), ", ")
				c.refuseAt("stages."+s.ID+"."+port.Key(), s.ID, "",
					fmt.Sprintf("%s with the column %s, which names the privacy unit", r, domain.UnitWords(columns...)),
					fmt.Sprintf("a table without it: put a stage {kind: drop, columns: [%s]} between the two, "+
						"behind the last one that needs the unit (split, shard)", name))
			}
		}
	}
}

func (c *compiler) source() pipeline.Terms { return c.headers[pipeline.DatasetID][""].Terms }

const unboundedFix = "compute it inside shards, from a public reference table or from released statistics, or mark " +
	"missing values by an indicator"

// unboundedSince words the path from the first stage that lost the bound, with what that stage itself says of
// it, and what to do.
func (c *compiler) unboundedSince(r pipeline.Ref) (why, fix string) {
	culprit := c.culprit(r)
	why, fix = fmt.Sprintf("a mechanism on %s, whose rows change without bound when one unit changes", r), unboundedFix
	if culprit != r.Stage {
		why += " since the stage " + culprit
	}
	for _, f := range c.plan.Findings {
		if f.Stage == culprit && f.Level == pipeline.LevelNote {
			why, fix = why+", where "+f.Message, f.Fix
		}
	}
	return why, fix
}

// culprit walks up to the stage that turned a bounded table into an unbounded one.
func (c *compiler) culprit(r pipeline.Ref) string {
	for _, s := range c.spec.Stages {
		if s.ID != r.Stage {
			continue
		}
		for _, port := range slices.Sorted(maps.Keys(s.Inputs)) {
			for _, up := range s.Inputs[port] {
				if h, ok := c.header(up); ok && h.Class == pipeline.Private && h.Stability.Spread == pipeline.SpreadUnbounded {
					return c.culprit(up)
				}
			}
		}
	}
	return r.Stage
}

// classOf joins the classes of the inputs whose rows are read.
func classOf(k *pipeline.Kind, in pipeline.Headers) pipeline.Class {
	class := pipeline.Public
	for _, port := range k.In {
		if port.Lends {
			continue
		}
		class = class.Join(in[port.Name].Class)
		for _, h := range in.All(port.Name) {
			class = class.Join(h.Class)
		}
	}
	return class
}

func describe(h pipeline.Header) pipeline.Output {
	o := pipeline.Output{Form: h.Form, Class: h.Class, Rows: h.Rows}
	if h.Form == pipeline.FormTable {
		o.Columns = len(h.Domain.Columns)
		if h.Class == pipeline.Private {
			o.Stability = h.Stability.String()
		}
	}
	return o
}

func (c *compiler) refuse(stage, rule, found, accepted string) {
	c.refuseAt("stages."+stage, stage, rule, found, accepted)
}

func (c *compiler) refuseAt(path, stage, rule, found, accepted string) {
	if rule == "" || c.spec.KnowsTerms() {
		c.faults = append(c.faults, c.spec.Refusal(rule, stage, path, found, accepted, ""))
	}
}
