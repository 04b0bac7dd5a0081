package compile

import (
	"weir/pipeline"
	"weir/pipeline/relation"
)

// elsewhere says of each stage in front of the models whether the program that reads the dataset could compute it.
func (c *compiler) elsewhere() {
	d := &c.spec.Dataset
	if d.Declared.Program == "" {
		return
	}
	e := computing{known: map[pipeline.Ref]relation.Relation{}, needed: map[pipeline.Ref]bool{}}
	source := pipeline.Ref{Stage: pipeline.DatasetID}
	if d.PrivacyUnit.MaxRows > 0 && d.PrivacyUnit.Keep == pipeline.KeepFirst { // an order of rows, which SQL does not have
		e.needed[source] = true
	} else {
		e.known[source] = pipeline.StoredRelation(c.spec.Header().Domain)
	}
	for i := range c.plan.Steps {
		e.step(&c.plan.Steps[i])
	}
}

// computing follows the rows of a dataset through the stages of a plan.
type computing struct {
	known  map[pipeline.Ref]relation.Relation // outputs that the program could compute
	needed map[pipeline.Ref]bool              // outputs of which weir needs the rows
}

// step words whether a stage that reads rows of the dataset could be computed.
func (e computing) step(s *Step) {
	refs := s.Inputs["in"]
	if s.Work.Elsewhere == nil || len(refs) != 1 {
		return
	}
	from, ok := e.known[refs[0]]
	if !ok && !e.needed[refs[0]] {
		return // rows that a model gave
	}
	out, err := from, error(nil)
	if ok {
		out, err = s.Work.Elsewhere(from)
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
