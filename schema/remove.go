package schema

import "gopkg.in/yaml.v3"

// Remove takes the key at a dotted path out of its mapping, so that the setting
// has its default again. A path without a value, or into a list, changes nothing.
func (d *Document) Remove(path string) {
	parts, err := splitPath(path)
	if err != nil || len(parts) == 0 {
		return
	}
	parent := d.root
	for _, part := range parts[:len(parts)-1] {
		if parent = child(parent, part); parent == nil {
			return
		}
	}
	key, ok := parts[len(parts)-1].(string)
	if !ok || parent.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(parent.Content); i += 2 {
		if parent.Content[i].Value == key {
			parent.Content = append(parent.Content[:i:i], parent.Content[i+2:]...)
			return
		}
	}
}
