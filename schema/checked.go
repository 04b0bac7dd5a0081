package schema

import (
	"reflect"
	"strconv"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

// Checked knows values that agree with the schema of what they decode into, so that documents which have them in common
// check each once. Its zero value is ready, and it is safe for concurrent use.
type Checked struct {
	lock   sync.Mutex
	types  map[reflect.Type]int // numbers, which make questions short
	values map[string]bool
	checks int // that found no answer here
}

// Remember has c record which values of the document pass the check, and the check pass over values that c knows. Where
// documents have equal values, what these decode into holds equal defaults.
func (d *Document) Remember(c *Checked) { d.checked = c }

// Checks returns how many values were held to a schema.
func (c *Checked) Checks() int {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.checks
}

// question names a value and what it is to decode into; "" where nothing is remembered.
func (c *Checked) question(n *yaml.Node, dst []any) string {
	if c == nil {
		return ""
	}
	var b strings.Builder
	for _, v := range dst {
		b.WriteString(strconv.Itoa(c.number(reflect.TypeOf(v))))
		b.WriteByte(' ')
	}
	fingerprint(&b, n)
	return b.String()
}

// number returns a number that no other type has.
func (c *Checked) number(t reflect.Type) int {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.types == nil {
		c.types = map[reflect.Type]int{}
	}
	if _, ok := c.types[t]; !ok {
		c.types[t] = len(c.types)
	}
	return c.types[t]
}

// right reports whether the value of a question was found right before. Where it was not, the caller checks it.
func (c *Checked) right(question string) bool {
	if c == nil {
		return false
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if !c.values[question] {
		c.checks++
	}
	return c.values[question]
}

// add remembers that the value of a question is right.
func (c *Checked) add(question string) {
	if c == nil {
		return
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.values == nil {
		c.values = map[string]bool{}
	}
	c.values[question] = true
}

// Fingerprint returns a text that two values have in common only if they are equal, each scalar as it is written; ""
// where the path has none.
func (d *Document) Fingerprint(path string) string {
	n, err := d.node(path)
	if err != nil || n == nil {
		return ""
	}
	var b strings.Builder
	fingerprint(&b, n)
	return b.String()
}

func fingerprint(b *strings.Builder, n *yaml.Node) {
	b.WriteByte('0' + byte(n.Kind))
	b.WriteString(n.Tag)
	b.WriteByte(' ')
	b.WriteString(strconv.Itoa(len(n.Value)))
	b.WriteByte(' ')
	b.WriteString(n.Value)
	b.WriteString(strconv.Itoa(len(n.Content)))
	for _, c := range n.Content {
		fingerprint(b, c)
	}
}

// Clone returns a copy of the document, which may be changed apart.
func (d *Document) Clone() *Document {
	c := newDocument(d.file, nil)
	c.checked = d.checked
	c.root = c.adopt(d, d.root)
	return c
}
