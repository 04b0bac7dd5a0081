package spec

import (
	"weir/schema"

	"weir/pipeline"
	"weir/pipeline/domain"
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
