package compile

import (
	"fmt"
	"strings"

	"weir/pipeline"
	"weir/pipeline/relation"
)

// elsewhere says of each stage in front of the models whether the program that reads the dataset could compute it.
// Where the rows stay with it, a stage that needs them is refused.
func (c *compiler) elsewhere() {
	d := &c.spec.Dataset
	if d.Declared.Program == "" {
		return
	}
	e := computing{known: map[pipeline.Ref]relation.Relation{}, needed: map[pipeline.Ref]bool{}}
	source := pipeline.Ref{Stage: pipeline.DatasetID}
	e.known[source] = pipeline.StoredRelation(c.spec.Header().Domain)
	if d.PrivacyUnit.MaxRows > 0 && d.PrivacyUnit.Keep == pipeline.KeepFirst { // an order of rows, which SQL does not have
		if d.Declared.Stays { // told beside what else needs rows
			c.refuseAt("dataset.privacy_unit.keep", "", "", "first, which goes by the order of rows, and rows stay in "+
				d.Declared.Program, string(pipeline.KeepByHash))
		} else {
			delete(e.known, source)
			e.needed[source] = true
		}
	}
	for i := range c.plan.Steps {
		step := &c.plan.Steps[i]
		e.step(step)
		if d.Declared.Stays {
			c.stays(step, e)
		}
	}
}

// stays refuses a step that reads rows which stay where they are stored. What reads the output of one that is refused
// is not refused again.
func (c *compiler) stays(s *Step, e computing) {
	counts := s.Work.Counts != nil && len(s.Inputs["in"]) == 1
	if s.Elsewhere == "yes" {
		s.Elsewhere = "computed there"
		return
	}
	for _, port := range s.Ports {
		for _, ref := range s.Inputs[port.Name] {
			rows, known := e.known[ref]
			switch {
			case port.Lends || !known && !e.needed[ref]:
			case known && counts && port.Name == "in":
				s.Elsewhere = "counted there"
				s.Kept, s.Keys = s.Work.Counts(rows)
			case known && c.spec.Dataset.Declared.Sample > 0 && measures(s):
				s.Sample = c.spec.Dataset.Declared.Sample
				s.Elsewhere = fmt.Sprintf("reads a sample of at most %d rows", s.Sample)
			case known:
				why, told := strings.CutPrefix(s.Elsewhere, "no: ")
				if !told {
					why = "reads rows"
				}
				c.refuse(s.ID, "", "of the kind "+s.Kind+", which "+why+", and rows of the dataset stay in "+
					c.spec.Dataset.Declared.Program, "a stage that the database computes or a model that counts there; or "+
					"dataset.database.rows: may_leave, where rows may leave it")
				return
			}
		}
	}
}

// measures tells whether a step computes figures for the owner, or shows them, and nothing else.
func measures(s *Step) bool {
	for _, h := range s.Work.Out {
		if h.Class != pipeline.Private || h.Form != pipeline.FormMetrics && h.Form != pipeline.FormFiles {
			return false
		}
	}
	return len(s.Work.Out) > 0 && len(s.Work.Spends) == 0
}

// computing follows the rows of a dataset through the stages of a plan.
type computing struct {
	known  map[pipeline.Ref]relation.Relation // outputs that the program could compute
	needed map[pipeline.Ref]bool              // outputs of which weir needs the rows
}

// step says of a stage that reads rows of the dataset whether a database could compute it, and if not, why.
func (e computing) step(s *Step) {
	refs := s.Inputs["in"]
	if s.Work.Elsewhere == nil || len(refs) != 1 {
		return
	}
	source, ok := e.known[refs[0]]
	if !ok && !e.needed[refs[0]] {
		return // rows that a model gave
	}
	out, err := source, error(nil)
	if ok {
		out, err = s.Work.Elsewhere(source)
	}
	switch {
	case !ok:
		s.Elsewhere = "no: it reads " + refs[0].String() + ", whose rows are needed"
	case err != nil:
		s.Elsewhere = "no: " + err.Error()
	default:
		s.Elsewhere = "yes"
	}
	for name := range s.Work.Out {
		at := pipeline.Ref{Stage: s.ID, Port: name}
		e.needed[at] = s.Elsewhere != "yes" || name != s.First
	}
	first := pipeline.Ref{Stage: s.ID}
	for _, at := range []pipeline.Ref{first, {Stage: s.ID, Port: s.First}} {
		if e.needed[at] = s.Elsewhere != "yes"; !e.needed[at] {
			e.known[at] = out
		}
	}
}
