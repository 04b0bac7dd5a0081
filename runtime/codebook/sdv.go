package codebook

import (
	"maps"
	"slices"
	"strings"

	"weir/pipeline/domain"
)

// sdv reads the metadata of the Synthetic Data Vault, of one table or of several of which part names one. It has no
// bounds and no lists, so that most columns are undecided.
func sdv(e entry, part string) Imported {
	_, top := e.keys("METADATA_SPEC_VERSION", "columns", "tables", "relationships", "primary_key", "alternate_keys",
		"sequence_key", "sequence_index", "column_relationships",
		"synthesizer_info", "constraints")
	table := top
	if top["tables"].there() {
		names, tables := top["tables"].keys()
		if part == "" && len(names) == 1 {
			part = names[0]
		}
		if !tables[part].there() {
			top["tables"].unknown("table; --table names one", part, names)
			return Imported{}
		}
		_, table = tables[part].keys("columns", "primary_key", "alternate_keys", "sequence_key", "sequence_index",
			"column_relationships")
	}
	created := Imported{Domain: &domain.Domain{}}
	if key := table["sequence_key"]; key.there() {
		created.Needs = append(created.Needs, "dataset: {privacy_unit: {column: "+quotedName(key.text())+
			", max_rows: ...}}, if "+
			"its values are persons")
	}
	names, columns := table["columns"].keys()
	for _, name := range names {
		created.Domain.Columns = append(created.Domain.Columns, sdvColumn(name, columns[name], keysOf(table)))
	}
	return created
}

// keysOf returns the columns that name rows or persons.
func keysOf(table map[string]entry) (keys []string) {
	for _, name := range []string{"primary_key", "sequence_key"} {
		if e := table[name]; e.there() {
			keys = append(keys, e.text())
		}
	}
	for _, e := range table["alternate_keys"].list() {
		keys = append(keys, e.text())
	}
	return keys
}

// sdvPersonal returns the types of values that point at persons or places.
func sdvPersonal() []string {
	return []string{"id", "unknown", "address", "administrative_unit", "city", "city_suffix", "company", "country_code",
		"credit_card_number", "email", "first_name", "iban", "ipv4_address",
		"ipv6_address", "job", "last_name", "latitude", "license_plate", "longitude", "mac_address", "name", "phone_number",
		"postcode", "ssn", "state", "state_abbr",
		"street_address", "street_name", "secondary_address", "swift11", "swift8", "user_agent_string", "user_name", "vin"}
}

func sdvColumn(name string, e entry, keys []string) domain.Column {
	_, topic := e.keys("sdtype", "pii", "computer_representation", "datetime_format", "regex_format", "order", "order_by")
	c := domain.Column{Name: name, Source: "public"}
	known := append([]string{"numerical", "categorical", "boolean", "datetime", "text"}, sdvPersonal()...)
	kind := topic["sdtype"].text()
	switch {
	case !topic["sdtype"].there():
		e.wrong("without sdtype", "one of "+strings.Join(known, ", "))
	case slices.Contains(keys, name):
		c.Type, c.Doc = domain.Text, sentence("a key by "+e.in.file)
	case kind == "numerical":
		sdvNumber(&c, topic["computer_representation"])
	case kind == "categorical" && topic["order"].there():
		listed(&c, topic["order"].spellings(), true)
		c.Doc = sentence("order by " + e.in.file)
	case kind == "categorical":
		c.Type, c.Categories = domain.Categorical, domain.Categories{}
		c.Source, c.Doc = domain.Undecided, sentence("a list of values is not given")
	case kind == "boolean":
		c.Type, c.Source, c.Doc = domain.Boolean, domain.Undecided, sentence("how true and false are spelled is not "+
			"given: 0 and 1, or false and true")
	case kind == "datetime":
		sdvDate(&c, topic["datetime_format"])
	case slices.Contains(known, kind) || topic["pii"].yes():
		c.Type, c.Doc = domain.Text, sentence(kind+" by "+e.in.file)
	default:
		topic["sdtype"].unknown("sdtype", kind, known)
	}
	return c
}

func sdvNumber(c *domain.Column, representation entry) {
	kinds := map[string]domain.ColumnType{"Float": domain.Numeric, "Int": domain.Integer}
	for _, name := range []string{"Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"} {
		kinds[name] = domain.Integer
	}
	if c.Type = domain.Numeric; representation.there() {
		c.Type = kinds[representation.one(slices.Sorted(maps.Keys(kinds))...)]
	}
	if c.Type == domain.Integer {
		c.Step = 1
	}
	undecided(c, "", "bounds are not given")
}

func sdvDate(c *domain.Column, format entry) {
	if !format.there() {
		undecided(c, "", "a date whose format is not given")
		return
	}
	if dated(c, "", format.text()); c.Type.Calendar() {
		undecided(c, "", "bounds are not given")
	}
}
