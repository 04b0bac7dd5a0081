package spec

import (
	"weir/pipeline/domain"
	"weir/schema"
)

// ParseDomain reads the YAML of a domain. The error is of type Diagnostics.
func ParseDomain(file string, data []byte) (*domain.Domain, error) {
	d, problems := parseDomain(file, data)
	if len(problems) > 0 {
		return nil, diagnostics(problems)
	}
	return d, nil
}

func parseDomain(file string, data []byte) (*domain.Domain, []schema.Problem) {
	doc, problems := schema.Parse(file, data)
	if doc == nil {
		return nil, problems
	}
	if other := foreign(file, doc, "a domain", "columns"); other != nil {
		return nil, other
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return decodeDomain(doc, "")
}

func (p *parser) domain(of *Dataset) *domain.Domain {
	const path = "dataset.domain"
	if len(p.doc.Keys(path)) > 0 {
		d, problems := decodeDomain(p.doc, path)
		p.add(problems...)
		return d
	}
	name := p.doc.Text(path)
	switch {
	case p.doc.Has(path):
	case of.Declared.Domain != nil:
		return of.Declared.Domain
	case p.wrong(path, schema.Path("dataset", of.Declared.Kind)):
		return nil
	}
	if name == "" || p.src.Read == nil {
		p.at(path, "", "the file of a domain, or the domain itself: {columns: [...]}", "")
		return nil
	}
	data, err := p.src.Read(name)
	if err != nil {
		p.at(path, "", "a readable file", err.Error())
		return nil
	}
	d, problems := parseDomain(name, data)
	p.add(problems...)
	return d
}

func decodeDomain(doc *schema.Document, path string) (*domain.Domain, []schema.Problem) {
	d := &domain.Domain{}
	problems := readDates(doc, path)
	if problems = append(problems, doc.Decode(path, d)...); len(problems) > 0 {
		return nil, problems
	}
	d.Complete()
	if problems := placed(doc, path, domain.Check(d, domain.Declared)); len(problems) > 0 {
		return nil, problems
	}
	return d, nil
}

// placed returns the problems of the domain at a path of a document, with their lines.
func placed(doc *schema.Document, path string, found schema.Problems) (problems []schema.Problem) {
	for _, f := range found {
		if path != "" {
			f.Path = path + "." + f.Path
		}
		p := doc.Problem(f.Path, f.Accepted, "")
		p.Found = f.Found
		problems = append(problems, p)
	}
	return problems
}
