package codebook

import (
	"slices"
	"strconv"
	"strings"

	"weir/pipeline/domain"
)

// frictionless reads a Table Schema, alone or inside one resource of a Data Package (specs.frictionlessdata.io and
// datapackage.org, versions 1 and 2).
func frictionless(e entry, part string) Imported {
	_, top := e.keys()
	resource := top
	if top["resources"].there() {
		resource = pickResource(top["resources"], part)
	}
	created := Imported{Domain: &domain.Domain{}, Needs: dialectOf(resource)}
	table := resource
	if resource["schema"].there() {
		if !strings.HasPrefix(strings.TrimSpace(string(resource["schema"].data)), "{") {
			resource["schema"].wrong(resource["schema"].shown(), "the schema itself: import the file that it names")
			return created
		}
		_, table = resource["schema"].keys()
	}
	if !table["fields"].there() && len(e.in.problems) == 0 {
		e.wrong("without fields", "a Table Schema, or a Data Package whose resource has one")
	}
	key := table["primaryKey"]
	var keys []string
	if strings.HasPrefix(string(key.data), "[") {
		keys = key.spellings()
	} else if key.there() {
		keys = []string{key.text()}
	}
	var missing []string
	if table["missingValues"].there() {
		missing = missingValues(table["missingValues"])
	}
	for _, f := range table["fields"].list() {
		created.Domain.Columns = append(created.Domain.Columns, frictionlessField(f, missing, len(keys) == 1, keys))
	}
	return created
}

// pickResource returns the keys of the only resource, or of the named one.
func pickResource(list entry, part string) map[string]entry {
	var names []string
	for _, r := range list.list() {
		_, keys := r.keys()
		name := keys["name"].text()
		if names = append(names, name); name == part && part != "" {
			return keys
		}
	}
	if len(names) == 1 && part == "" {
		_, keys := list.list()[0].keys()
		return keys
	}
	list.unknown("table; --table names one", part, names)
	return map[string]entry{}
}

// dialectOf says what dataset.csv needs.
func dialectOf(resource map[string]entry) (needs []string) {
	var list []string
	if resource["encoding"].there() {
		if name := strings.ToLower(resource["encoding"].text()); name != "utf-8" && name != "utf8" {
			list = append(list, "encoding: "+strconv.Quote(name))
		}
	}
	if resource["dialect"].there() && strings.HasPrefix(string(resource["dialect"].data), "{") {
		_, dialect := resource["dialect"].keys()
		if d := dialect["delimiter"].text(); d != "" && d != "," {
			list = append(list, "delimiter: "+strconv.Quote(d))
		}
		if dialect["header"].there() && !dialect["header"].yes() {
			list = append(list, "header: false")
		}
	}
	if len(list) == 0 {
		return nil
	}
	return []string{"dataset: {file: ..., csv: {" + strings.Join(list, ", ") + "}}"}
}

// missingValues returns spellings, or objects with a value and a label (version 2); the empty cell is always one.
func missingValues(e entry) (list []string) {
	for _, v := range e.list() {
		text := ""
		if strings.HasPrefix(string(v.data), "{") {
			_, keys := v.keys("value", "label")
			text = v.need(keys, "value").spelled()
		} else {
			text = v.spelled()
		}
		if text != "" {
			list = append(list, text)
		}
	}
	return list
}

func fieldKeys() []string {
	return []string{"name", "type", "format", "title", "description", "example", "constraints", "rdfType",
		"missingValues", "trueValues", "falseValues",
		"decimalChar", "groupChar", "bareNumber", "categories", "categoriesOrdered", "itemType", "arrayItem", "delimiter",
		"unit"}
}

func constraintKeys() []string {
	return []string{"required", "unique", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength",
		"maxLength", "pattern", "enum", "jsonSchema"}
}

// frictionlessField declares a column. A key of rows is text: no model may learn it.
func frictionlessField(e entry, missing []string, single bool, keys []string) domain.Column {
	_, f := e.keys(fieldKeys()...)
	_, limits := f["constraints"].keys(constraintKeys()...)
	doc := f["description"].text()
	if doc == "" {
		doc = f["title"].text()
	}
	if f["missingValues"].there() {
		missing = missingValues(f["missingValues"])
	}
	c := domain.Column{Name: f["name"].text(), Source: "public", Missing: missing,
		Nullable: !limits["required"].yes() || len(missing) > 0}
	kind := "string"
	if f["type"].there() {
		kind = f["type"].one("string", "number", "integer", "boolean", "date", "time", "datetime", "year", "yearmonth",
			"duration", "object", "array", "list", "geopoint", "geojson", "any")
	}
	switch {
	case limits["unique"].yes() || single && slices.Contains(keys, c.Name):
		c.Type, c.Doc = domain.Text, sentence(short(doc), "no two rows share a value")
	case limits["enum"].there():
		listed(&c, limits["enum"].spellings(), false)
		c.Doc = sentence(short(doc), "values by "+e.in.file)
	case f["categories"].there():
		listed(&c, categoriesOf(f["categories"]), f["categoriesOrdered"].yes())
		c.Doc = sentence(short(doc), "categories by "+e.in.file)
	default:
		frictionlessType(&c, kind, doc, f, limits)
	}
	return c
}

// categoriesOf returns values, or objects with a value and a label.
func categoriesOf(e entry) (list []string) {
	for _, v := range e.list() {
		if strings.HasPrefix(string(v.data), "{") {
			_, keys := v.keys("value", "label")
			v = v.need(keys, "value")
		}
		list = append(list, v.spelled())
	}
	return list
}

func frictionlessType(c *domain.Column, kind, doc string, f, limits map[string]entry) {
	switch kind {
	case "number":
		c.Type, c.Format = domain.Numeric, numberFormat(f)
		limited(c, doc, limits)
	case "integer", "year":
		c.Type, c.Step, c.Format = domain.Integer, 1, strings.TrimSuffix(numberFormat(f), ".5")
		limited(c, doc, limits)
	case "boolean":
		frictionlessBoolean(c, f)
		c.Doc = sentence(short(doc))
	case "date", "datetime", "time":
		format := f["format"].text()
		if format == "" || format == "default" {
			format = map[string]string{"date": "%Y-%m-%d", "datetime": "%Y-%m-%dT%H:%M:%S%z", "time": "%H:%M:%S"}[kind]
		}
		if dated(c, doc, format); c.Type.Calendar() {
			limited(c, doc, limits)
		}
	case "string", "any", "":
		undecided(c, doc, "no list of values given")
	default:
		undecided(c, doc, "type "+kind+", for which a person has to find a type")
	}
}

// numberFormat returns the example of a number whose marks are declared; a plain number has "".
func numberFormat(f map[string]entry) string {
	group, mark := f["groupChar"].text(), f["decimalChar"].text()
	if mark == "" {
		mark = "."
	}
	if group == "" && mark == "." {
		return ""
	}
	if group == "" {
		return "1" + mark + "5"
	}
	return "1" + group + "234" + mark + "5"
}

// limited declares bounds where both ends are given.
func limited(c *domain.Column, doc string, limits map[string]entry) {
	least, most := limits["minimum"], limits["maximum"]
	if !least.there() || !most.there() {
		undecided(c, doc, "no two bounds given")
		return
	}
	b := [2]float64{end(c, least), end(c, most)}
	c.Bounds, c.Doc = &b, sentence(short(doc), "bounds by "+least.in.file)
}

// end returns a number, or a date or time as the number of its day or second.
func end(c *domain.Column, e entry) float64 {
	if !c.Type.Calendar() {
		return e.number()
	}
	if at, ok := c.ReadValue(e.text()); ok {
		return at
	}
	e.wrong(e.shown(), "a "+string(c.Type)+" as ISO 8601 spells it")
	return 0
}

// frictionlessBoolean takes the first spelling of each value for it, and the others for aliases.
func frictionlessBoolean(c *domain.Column, f map[string]entry) {
	c.Type = domain.Boolean
	if !f["trueValues"].there() && !f["falseValues"].there() {
		return // 0 and 1, which are spelled false and true too
	}
	c.Aliases = domain.Aliases{}
	for _, spellings := range [][]string{spellingsOr(f["falseValues"], "false", "False", "FALSE", "0"),
		spellingsOr(f["trueValues"], "true", "True", "TRUE", "1")} {
		if len(spellings) == 0 {
			f["type"].wrong("boolean with an empty list of spellings", "one with trueValues and falseValues, or without both")
			return
		}
		c.Categories = append(c.Categories, spellings[0])
		if len(spellings) > 1 {
			c.Aliases[spellings[0]] = spellings[1:]
		}
	}
}

func spellingsOr(e entry, usual ...string) []string {
	if e.there() {
		return e.spellings()
	}
	return usual
}
