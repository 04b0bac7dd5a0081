package spec

import (
	"reflect"
	"strings"
	"testing"
)

// TestBoundsOfDatesCanBeSpelled: 9999-12-31 is day 2932896, and no file spells the next.
func TestBoundsOfDatesCanBeSpelled(t *testing.T) {
	for bounds, message := range map[string]string{"[-719528, 2932896]": "", "[0, 2932897]": "the years 0 to 9999",
		"[-719529, 0]": "the years 0 to 9999"} {
		_, err := ParseDomain("domain.yaml", []byte("columns:\n  - {name: day, type: date, bounds: "+bounds+"}\n"))
		if (err == nil) != (message == "") || err != nil && !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v, must say %q", bounds, err, message)
		}
	}
}

const dated = `columns:
  - {name: born, type: date, bounds: [1900-01-01, "1970-01-02"]}
  - {name: seen, type: date, bounds: [-1, 11017], nullable: true}
  - {name: until, type: date, bounds: [0000-01-01, 9999-12-31]}
  - {name: part, type: date, bounds: [0.5, 10]}
  - {name: age, type: integer, bounds: [0, 120]}
constraints:
  - impossible: {born: 1950-01-01..1959-12-31, age: ..5}
`

// TestDatesInDomains: bounds of dates are dates or days, and come back as dates. Day -1 is
// 1969-12-31, day 11017 is 2000-03-01 (pipeline.TestDays).
func TestDatesInDomains(t *testing.T) {
	d, err := ParseDomain("d.yaml", []byte(dated))
	if err != nil {
		t.Fatal(err)
	}
	if got := *d.Columns[0].Bounds; got != [2]float64{-25567, 1} {
		t.Errorf("bounds are %v, must be -25567 and 1", got)
	}
	text, err := d.YAML()
	if err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(string(text)), " ")
	for _, want := range []string{"1900-01-01", "1970-01-02", "1969-12-31", "2000-03-01", "[0000-01-01, 9999-12-31]",
		"[0.5, 1970-01-11]", "120"} {
		if !strings.Contains(flat, want) {
			t.Errorf("the domain is written without %s:\n%s", want, text)
		}
	}
	again, err := ParseDomain("d.yaml", text)
	if err != nil {
		t.Fatalf("written and read back: %v", err)
	}
	for i, c := range again.Columns {
		if *c.Bounds != *d.Columns[i].Bounds {
			t.Errorf("bounds of %s are written and read back as %v, must be %v", c.Name, *c.Bounds, *d.Columns[i].Bounds)
		}
	}
}

// TestTextsThatAreNoDates are told by place, all at once; so is a number's bound that is a
// date, and an empty range of dates, in dates.
func TestTextsThatAreNoDates(t *testing.T) {
	_, err := ParseDomain("d.yaml", []byte("columns:\n  - {name: a, type: date, bounds: [2001-02-30, soon]}\n  - {name: "+
		"b, type: numeric, bounds: [0, 2001-02-03]}\n"))
	for _, want := range []string{
		`d.yaml:2:36: columns[0].bounds[0]: is the text "2001-02-30", must be a date, as 2019-04-30`,
		`columns[0].bounds[1]: is the text "soon"`, `columns[1].bounds[1]: is the text "2001-02-03", must be a number`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nmust say %s", err, want)
		}
	}
	_, err = ParseDomain("d.yaml", []byte("columns:\n  - {name: a, type: date, bounds: [2001-02-03, 2000-03-01]}\n"))
	if err == nil || !strings.Contains(err.Error(), "is [2001-02-03, 2000-03-01], must be") {
		t.Errorf("%v, must quote dates", err)
	}
	_, err = ParseDomain("d.yaml", []byte(strings.Replace(dated, "1950-01-01..1959-12-31", "1850-01-01..1859-12-31", 1)))
	if err == nil || !strings.Contains(err.Error(), "inside the bounds [1900-01-01, 1970-01-02] of born") {
		t.Errorf("%v, must name bounds as dates", err)
	}
}

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
