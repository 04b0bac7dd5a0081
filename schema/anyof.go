package schema

// AnyOf accepts what one of the schemas accepts.
func AnyOf(schemas ...*Schema) *Schema {
	options := make([]any, len(schemas))
	for i, s := range schemas {
		options[i] = s.doc
	}
	return newSchema(newObject("anyOf", options))
}

// PathSchema accepts the path of a file.
func PathSchema() *Schema {
	return newSchema(newObject("type", "string", "minLength", 1, "format", "path"))
}
