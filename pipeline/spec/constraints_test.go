package spec

import (
	"reflect"
	"testing"
)

// TestRulesComeBack: what is written of a domain with rules is read as the same.
func TestRulesComeBack(t *testing.T) {
	const text = `columns:
  - {name: sex, type: categorical, categories: [f, m], nullable: true}
  - {name: age, type: integer, bounds: [0, 120]}
  - {name: later, type: integer, bounds: [0, 120]}
constraints:
  - {impossible: {sex: m, age: [..17, 100..]}, doc: why}
  - order: [age, later]
  - function: {of: sex, column: later, map: {f: 1, m: 2, missing: 3}}
  - total: [{where: {sex: [f, missing]}, count: 3}, {where: {sex: m}, count: 0}]
`
	d, err := ParseDomain("domain.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	written, err := d.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseDomain("domain.yaml", written)
	if err != nil || !reflect.DeepEqual(d, again) {
		t.Errorf("%v\n%s\nis read as %+v", err, written, again)
	}
}
