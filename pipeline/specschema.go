package pipeline

import "weir/schema"

// SpecSchema is the JSON Schema of a spec over the kinds of reg.
func SpecSchema(reg *Registry) (*schema.Schema, error) {
	file := specFile{Spec: defaultSpec()}
	spec, err := schema.Of(&file)
	if err != nil {
		return nil, err
	}
	kinds := map[string]*schema.Schema{}
	for _, name := range reg.Names() {
		kinds[name], err = reg.Kind(name).settingsSchema()
		if err != nil {
			return nil, err
		}
	}
	union, err := schema.Union("kind", kinds)
	if err != nil {
		return nil, err
	}
	domain, err := schema.Of(&Domain{})
	if err != nil {
		return nil, err
	}
	spec, err = spec.With([]string{"stages", "*"}, union)
	if err != nil {
		return nil, err
	}
	return spec.With([]string{"dataset", "domain"}, schema.AnyOf(schema.TextSchema(), domain))
}
