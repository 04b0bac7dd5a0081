package spec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"weir/pipeline"
	"weir/schema"
)

// datasetFields are the settings that datasets of every source share.
type datasetFields Dataset

// UnmarshalYAML leaves the mapping alone: it is decoded once the sources of the program are known, whose settings lie
// in it too.
func (d *Dataset) UnmarshalYAML(*yaml.Node) error { return nil }

// JSONSchema accepts every mapping; see datasetSchema.
func (Dataset) JSONSchema() map[string]any { return map[string]any{"type": "object"} }

// datasetSchema returns the schema of the mapping `dataset`: the settings of every source, then the shared ones.
func datasetSchema(reg *pipeline.Registry) (*schema.Schema, error) {
	var parts []any
	for _, kind := range reg.Sources() {
		parts = append(parts, kind.New())
	}
	shared := datasetFields(defaults().Dataset)
	return mergeSchemas(append(parts, &shared)...)
}

// ParseDataset reads where a table is and how it is read: the mapping `dataset` of a YAML file, which may be a whole
// spec or have nothing else. Its domain is not looked at. The error is of type Diagnostics.
func ParseDataset(file string, data []byte, reg *pipeline.Registry) (*Dataset, error) {
	doc, problems := schema.Parse(file, data)
	if doc == nil {
		return nil, diagnostics(problems)
	}
	p := &parser{src: Input{File: file}, doc: doc, reg: reg, problems: problems}
	s := defaults()
	if len(doc.Keys("dataset")) == 0 { // the file may be a table, whose keys are cells
		p.problems = nil
		p.problemAt("dataset", "", "a mapping that says where the table is, as that of a spec does: {database: {engine: "+
			"...}}, or "+
			"{file: ...}", "")
	} else {
		p.source(&s)
	}
	if len(p.problems) > 0 {
		return nil, diagnostics(p.problems)
	}
	return &s.Dataset, nil
}

// source decodes the mapping `dataset` and finds the source that it chooses.
func (p *parser) source(s *Spec) {
	d := &s.Dataset
	if p.doc.Keys("dataset") == nil {
		return // whatever it is, it was told
	}
	kinds := p.reg.Sources()
	all, dst := make([]pipeline.Source, len(kinds)), make([]any, len(kinds))
	for i, kind := range kinds {
		all[i] = kind.New()
		dst[i] = all[i]
	}
	p.add(p.doc.Decode("dataset", append(dst, (*datasetFields)(d))...)...)
	pos, ok := p.chosen(kinds)
	if !ok {
		return
	}
	d.Source, d.Declared.Kind = all[pos], kinds[pos].Name
	for _, key := range rivals(p.reg, keyOf(kinds[pos])) {
		if path := schema.Path("dataset", key); p.doc.Has(path) {
			p.problemAt(path, "", "left out where rows come from dataset."+kinds[pos].Name, "")
		}
	}
	if !p.wrong(keysOf(kinds[pos])...) {
		p.declare(s)
	}
}

// chosen finds the one kind of source that the spec names.
func (p *parser) chosen(kinds []pipeline.SourceKind) (pos int, ok bool) {
	var names, created []string
	for i, kind := range kinds {
		names = append(names, kind.Name)
		if p.doc.Has(keyOf(kind)) {
			pos, created = i, append(created, kind.Name)
		}
	}
	if len(created) == 1 {
		return pos, true
	}
	found := "a mapping with none of " + listed(names)
	if len(created) > 1 {
		found = "a mapping with " + listed(created)
	}
	if !p.misspelled("dataset") {
		p.problemAt("dataset", found, "a mapping with one of "+listed(names), "")
	}
	return 0, false
}

// declare asks the source for what follows from its settings.
func (p *parser) declare(s *Spec) {
	d := &s.Dataset
	declared, err := d.Source.Declare(pipeline.Declaring{CSV: d.CSV, Seed: s.Seed})
	declared.Kind = d.Declared.Kind
	d.Declared = declared
	var problems schema.Problems
	switch {
	case err == nil:
	case errors.As(err, &problems):
		for _, problem := range problems {
			p.problemAt("dataset."+problem.Path, problem.Found, problem.Accepted, problem.Hint)
		}
	default:
		p.problemAt(schema.Path("dataset", declared.Kind), "", "a source that can be declared", err.Error())
	}
}

// misspelled tells whether a key of the mapping at a path is unknown: any setting there may have been meant.
func (p *parser) misspelled(path string) bool {
	return slices.ContainsFunc(p.problems, func(problem schema.Problem) bool {
		return problem.Found == schema.UnknownKey && parent(problem.Path) == path
	})
}

// rivals lists the settings of all sources but the one that a path chooses; none where it chooses none.
func rivals(reg *pipeline.Registry, path string) (keys []string) {
	at := slices.IndexFunc(reg.Sources(), func(kind pipeline.SourceKind) bool { return keyOf(kind) == path })
	for i, kind := range reg.Sources() {
		if at >= 0 && i != at {
			keys = append(keys, settingsOf(kind)...)
		}
	}
	return keys
}

func keyOf(kind pipeline.SourceKind) string { return schema.Path("dataset", kind.Name) }

// keysOf lists the paths of a source's settings in a spec.
func keysOf(kind pipeline.SourceKind) (paths []string) {
	for _, key := range settingsOf(kind) {
		paths = append(paths, "dataset."+key)
	}
	return paths
}

// settingsOf lists the settings of a source by their keys in `dataset`.
func settingsOf(kind pipeline.SourceKind) (keys []string) {
	return keysWhere(kind.New(), func(setting schema.Setting) bool { return parent(setting.Path) == "" })
}

// keysWhere lists the settings of a source that are so, by their paths in `dataset`.
func keysWhere(s pipeline.Source, actual func(schema.Setting) bool) (keys []string) {
	shape, err := schema.Derive(s)
	if err != nil {
		return nil // as decoding says
	}
	for _, setting := range shape.Settings() {
		if actual(setting) {
			keys = append(keys, setting.Path)
		}
	}
	return keys
}

func namesFile(s schema.Setting) bool { return s.NamesFile }

// Places lists the settings of the source, by their paths in `dataset`, that say where its files lie: what differs
// between machines that have the same data.
func (d *Dataset) Places() []string { return keysWhere(d.Source, namesFile) }

// Places lists the settings of every source, by their paths in a spec, that name files.
func Places(reg *pipeline.Registry) (paths []string) {
	for _, kind := range reg.Sources() {
		for _, key := range keysWhere(kind.New(), namesFile) {
			paths = append(paths, "dataset."+key)
		}
	}
	return paths
}

// listed joins names as a sentence does.
func listed(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return fmt.Sprintf("%s and %s", strings.Join(names[:last], ", "), names[last])
}

// foreign returns the one problem of a file that is not what it is taken for: it has
// none of the keys that tell one. Whatever else is wrong with it is not said,
// since a problem quotes what it found, and a table that was named by mistake
// holds cells.
func foreign(file string, doc *schema.Document, actual string, keys ...string) []schema.Problem {
	if slices.ContainsFunc(keys, func(k string) bool { return slices.Contains(doc.Keys(""), k) }) {
		return nil
	}
	return []schema.Problem{{File: file, Line: 1, Column: 1, Found: "not " + actual, Accepted: actual +
		": a YAML mapping with the key " + strings.Join(keys, " or ")}}
}

func specForeign(file string, doc *schema.Document) []schema.Problem {
	return foreign(file, doc, "a spec", "weir", "dataset", "stages")
}
