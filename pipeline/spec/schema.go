package spec

import (
	"fmt"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
)

// Schema is the JSON Schema of a spec over the kinds of reg.
func Schema(reg *pipeline.Registry) (*schema.Schema, error) {
	file := specFile{Spec: defaults()}
	spec, err := schema.Of(&file)
	if err != nil {
		return nil, err
	}
	kinds := map[string]*schema.Schema{}
	for _, name := range reg.Names() {
		kinds[name], err = settingsSchema(reg.Kind(name))
		if err != nil {
			return nil, err
		}
	}
	union, err := schema.Union("kind", kinds)
	if err != nil {
		return nil, err
	}
	domain, err := schema.Of(&domain.Domain{})
	if err != nil {
		return nil, err
	}
	spec, err = spec.With([]string{"stages", "*"}, union)
	if err != nil {
		return nil, err
	}
	dataset, err := datasetSchema(reg)
	if err != nil {
		return nil, err
	}
	if spec, err = spec.With([]string{"dataset"}, dataset); err != nil {
		return nil, err
	}
	return spec.With([]string{"dataset", "domain"}, schema.AnyOf(schema.PathSchema(), domain))
}

// Published returns the JSON Schema that editors check by: of a spec of these kinds ("pipeline") or of a domain
// ("domain").
func Published(what string, reg *pipeline.Registry) ([]byte, error) {
	switch what {
	case "pipeline":
		doc, err := Schema(reg)
		if err != nil {
			return nil, err
		}
		return doc.Publish("weir pipeline")
	case "domain":
		doc, err := schema.Of(&domain.Domain{})
		if err != nil {
			return nil, err
		}
		return doc.Publish("weir domain")
	}
	return nil, fmt.Errorf("unknown schema %q, must be pipeline or domain", what)
}
