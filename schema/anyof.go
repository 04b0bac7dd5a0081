package schema

// AnyOf accepts what one of the schemas accepts.
func AnyOf(schemas ...*Schema) *Schema {
	options := make([]any, len(schemas))
	for i, s := range schemas {
		options[i] = s.doc
	}
	return newSchema(newObject("anyOf", options))
}

// TextSchema accepts any text that is not empty.
func TextSchema() *Schema { return newSchema(newObject("type", "string", "minLength", 1)) }
