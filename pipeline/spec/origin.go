package spec

import (
	"sync"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
)

// origin is what a spec was read from, of which the trials of its experiment are read too.
type origin struct {
	src   Input
	reg   *pipeline.Registry
	known known
	aims  map[string]string // by stage that an override takes out: the column that it predicts

	once sync.Once
	doc  *schema.Document // with the overrides, as no trial has changed it; nil before the first trial
}

// known is what the specs of one origin have in common. It is safe for concurrent use.
type known struct {
	checked schema.Checked

	lock    sync.Mutex
	domains map[string]*domain.Domain // by what was read; nobody changes one
}

// Trial returns the spec of a run of the experiment: this spec with the settings of the trial, which come after the
// overrides, and with stages of its own. What the trial leaves as it is was checked before, and is not checked again.
// The error is of type Diagnostics.
func (s *Spec) Trial(t Trial) (*Spec, error) {
	o := s.from
	o.once.Do(func() { o.doc, _ = o.read() }) // without problems, as when this spec was read
	return o.parse(o.doc.Clone(), t)
}

// read parses the words of the spec and applies the overrides.
func (o *origin) read() (*schema.Document, []schema.Problem) {
	doc, problems := schema.Parse(o.src.File, o.src.Data)
	if doc == nil {
		return nil, problems
	}
	if other := specForeign(o.src.File, doc); other != nil {
		return nil, other
	}
	stages, aims := doc.Keys("stages"), map[string]string{}
	for _, set := range o.src.Set {
		if id := offStage(set); id != "" {
			aims[id] = aimOf(doc, id, o.reg)
		}
		problems = append(problems, override(doc, set, o.reg)...)
	}
	if o.aims == nil { // else trials may read it
		o.aims = aims
	}
	doc.Remember(&o.known.checked)
	return doc, append(problems, strangers(doc, o.src.Set, stages)...)
}

// domain returns the domain that text describes; read reads it where no spec of the origin has read it soundly.
func (k *known) domain(text string, read func() (*domain.Domain, []schema.Problem)) (*domain.Domain, []schema.Problem) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if d := k.domains[text]; d != nil {
		return d, nil
	}
	d, problems := read()
	if len(problems) == 0 {
		if k.domains == nil {
			k.domains = map[string]*domain.Domain{}
		}
		k.domains[text] = d
	}
	return d, problems
}
