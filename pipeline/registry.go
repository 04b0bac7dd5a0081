package pipeline

import (
	"fmt"
	"maps"
	"slices"
)

// Registry is what a program knows: kinds of stages, sources of rows, and formats of the files that it writes.
type Registry struct {
	kinds   map[string]*Kind
	sources []SourceKind
	formats []FileFormat
}

// NewRegistry collects kinds; two of one name, or one without ports or New, is
// an error in the program.
func NewRegistry(lists ...[]Kind) (*Registry, error) {
	r := &Registry{kinds: map[string]*Kind{}}
	for _, list := range lists {
		for _, k := range list {
			if err := r.add(k); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

func (r *Registry) add(k Kind) error {
	if _, twice := r.kinds[k.Name]; twice {
		return fmt.Errorf("kind %s is registered twice", k.Name)
	}
	if k.Name == "" || k.New == nil || len(k.Out) == 0 || k.Doc == "" {
		return fmt.Errorf("kind %q needs a name, a doc, New and an output port", k.Name)
	}
	for i, reader := range k.Readers {
		if slices.ContainsFunc(k.Readers[:i], func(r Reader) bool {
			return r.Reads() == reader.Reads() &&
				r.Scores() == reader.Scores()
		}) {
			return fmt.Errorf("kind %s: has two readers of format %d", k.Name, reader.Reads())
		}
	}
	if wrong := k.Figures.Problem(); wrong != "" {
		return fmt.Errorf("kind %s: %s", k.Name, wrong)
	}
	fresh := k.New
	k.New = func() Stage {
		s := fresh()
		if chooser, ok := s.(FormatChooser); ok {
			chooser.KnowFormats(r.formats)
		}
		return s
	}
	r.kinds[k.Name] = &k
	return nil
}

// Reading adds sources, and returns the registry.
func (r *Registry) Reading(sources ...SourceKind) *Registry {
	r.sources = append(r.sources, sources...)
	return r
}

// Writing adds formats, and returns the registry.
func (r *Registry) Writing(formats ...FileFormat) *Registry {
	r.formats = append(r.formats, formats...)
	return r
}

// Sources lists the sources in the order in which they are shown.
func (r *Registry) Sources() []SourceKind { return r.sources }

// Kind returns the named kind, or nil.
func (r *Registry) Kind(name string) *Kind { return r.kinds[name] }

// FileNames returns what a kind calls the files of an output (Port.Files); nil of an output that it does not have.
func (r *Registry) FileNames(kind, port string) []string {
	if k := r.Kind(kind); k != nil {
		for _, out := range k.Out {
			if out.Name == port {
				return out.Files
			}
		}
	}
	return nil
}

// Readers returns the readers of every kind.
func (r *Registry) Readers() Readers {
	var all []Kind
	for _, k := range r.kinds {
		all = append(all, *k)
	}
	return ReadersOf(all)
}

// Names lists the kinds in alphabetical order.
func (r *Registry) Names() []string {
	return slices.Sorted(maps.Keys(r.kinds))
}

// Figures returns the declarations of stages, whose kinds are given by stage: what a record says.
func (r *Registry) Figures(kinds map[string]string) StageFigures {
	subject := StageFigures{}
	for stage, name := range kinds {
		if k := r.Kind(name); k != nil {
			subject[stage] = k.Figures
		}
	}
	return subject
}

// Reader reads back what a kind releases in one format. What it makes of it is between the kind and the stages that
// read models (stages/model/artifact); no stage needs to know the kinds of another family.
type Reader interface {
	Reads() (format int)
	Scores() bool // it makes what rows are scored by, else a model that rows are drawn from
}

// Readers holds the readers of kinds by the name of the kind, which stands in what it releases.
type Readers map[string][]Reader

// ReadersOf collects the readers of kinds.
func ReadersOf(kinds []Kind) Readers {
	r := Readers{}
	for _, k := range kinds {
		if len(k.Readers) > 0 {
			r[k.Name] = k.Readers
		}
	}
	return r
}

// Scoring lists the kinds by whose models or detectors rows are scored.
func (r Readers) Scoring() (kinds []string) {
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if slices.ContainsFunc(r[name], Reader.Scores) {
			kinds = append(kinds, name)
		}
	}
	return kinds
}
