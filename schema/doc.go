// Package schema is the one place where a setting is declared.
//
// A settings struct with tags is the YAML key, the JSON Schema, the documentation and the check:
//
//	type Settings struct {
//		Steps   int      `yaml:"steps" doc:"Steps of training." required:"true" min:"1"`
//		Clip    float64  `yaml:"max_grad_norm" doc:"Bound of one gradient." exclusiveMin:"0"`
//		Scope   string   `yaml:"scope" doc:"Rows that are searched." enum:"table|shard"`
//		Columns []string `yaml:"columns,omitempty" doc:"Columns to encode." format:"column"`
//		Stop    *float64 `yaml:"stop" doc:"Threshold." min:"0" unit:"seconds"`
//	}
//
// Tags of a field (on a list, array or map the value tags hold for each element):
//
//	yaml:"key[,omitempty][,inline]"  key is needed on every exported field; "-" leaves the field out.
//	                                 omitempty: the zero value means that nothing is set.
//	doc, unit, example               text for people
//	required:"true"                  the key must stand in the file
//	min, max, exclusiveMin, exclusiveMax   numbers
//	enum:"a|b"                       allowed values
//	pattern, minLength               of text
//	minItems, maxItems, unique       of a list; minItems of a map is its least number of keys
//	format                           what a text names: column, stage, expression, path. "columns" and
//	                                 "stages" are read as column and stage for each element of a list
//	default                          shown instead of the value that the struct given to Of holds
//
// Without a default tag the value in the struct given to Of is the default. Of refuses a default that
// the field's own rules refuse, unless the field is required or omitempty.
//
// A block behind a nil pointer and the elements of lists and mappings have no value in that struct; they
// have the zero value, or what SetDefaults() on a pointer to their type sets.
//
// A type that decodes itself (yaml.Unmarshaler) says its schema by JSONSchema() map[string]any, asked of the default value; one with
// UnmarshalText is text. Float, Text, Raw and Ordered are ready types for infinite numbers, spellings,
// undecoded YAML and mappings whose order counts.
package schema
