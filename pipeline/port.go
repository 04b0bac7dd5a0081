package pipeline

import "fmt"

// Key is the YAML key of an input port: `from` for "in", else its name.
func (p Port) Key() string {
	if p.Name == "in" {
		return "from"
	}
	return p.Name
}

// Takes tells whether what has that form goes in.
func (p Port) Takes(f Form) bool { return f == p.Form || p.Or != "" && f == p.Or }

// Forms are the forms that a port has or takes, such as "detector or model".
func (p Port) Forms() string {
	if p.Or == "" {
		return string(p.Form)
	}
	return string(p.Form) + " or " + string(p.Or)
}

// InByKey returns the input port with the YAML key, or nil.
func (k *Kind) InByKey(key string) *Port {
	for i := range k.In {
		if k.In[i].Key() == key {
			return &k.In[i]
		}
	}
	return nil
}

// OutPort returns the named output port, or the first where name is empty; nil
// where there is none.
func (k *Kind) OutPort(name string) *Port {
	if name == "" {
		return &k.Out[0]
	}
	for i := range k.Out {
		if k.Out[i].Name == name {
			return &k.Out[i]
		}
	}
	return nil
}

// Indexed is the name under which the i-th input of a port that takes many
// stands in Headers and Tables.
func Indexed(port string, i int) string { return fmt.Sprintf("%s.%d", port, i) }

// All returns the headers of a port that takes many, in the order of the spec.
func (h Headers) All(port string) []Header { return all(h, port) }

// All returns the tables of a port that takes many, in the order of the spec.
func (t Tables) All(port string) []Table { return all(t, port) }

func all[T any](m map[string]T, port string) []T {
	var list []T
	for i := 0; ; i++ {
		v, ok := m[Indexed(port, i)]
		if !ok {
			return list
		}
		list = append(list, v)
	}
}
