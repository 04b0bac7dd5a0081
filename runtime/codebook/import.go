package codebook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"weir/pipeline/domain"
)

// Imported is a domain that one file describes by itself, and what a spec needs beside it.
type Imported struct {
	Domain *domain.Domain
	Needs  []string
}

// importer makes a domain of a JSON file of one form. part names one of several tables in it; "" is the only one.
type importer func(e entry, part string) Imported

// Import makes a domain of a file that describes columns in one of these forms: a Table Schema or Data Package of
// Frictionless, the metadata of SDV, what pyreadstat says of a file of SPSS, SAS or Stata, a DDI codebook such as
// IPUMS has, or a dictionary of NIST's excerpts. ok is false where it is of none. What a file does not say of a column,
// such as its bounds, is Undecided, and the doc says what is missing. Each entry that the form does not have is a
// problem with its place, all of them at once.
func Import(file string, data []byte, part string) (created *Imported, ok bool, err error) {
	if len(data) > MaxBytes {
		return nil, true, fmt.Errorf("%s: has %d bytes, must have at most %d", file, len(data), MaxBytes)
	}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("<")) || bytes.HasPrefix(data, []byte("\xef\xbb\xbf<")) {
		created, err = importDDI(file, bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
		return checked(file, created, err)
	}
	key, known := importerOf(data)
	if !known {
		return nil, false, nil
	}
	e, err := openDocument(file, data)
	if err != nil {
		return nil, true, err
	}
	found := key(e, part)
	if len(e.in.problems) > 0 {
		return nil, true, e.in.problems
	}
	return checked(file, &found, nil)
}

// checked refuses what no domain may be.
func checked(file string, created *Imported, err error) (*Imported, bool, error) {
	if err != nil {
		return nil, true, err
	}
	if len(created.Domain.Columns) == 0 {
		return nil, true, fmt.Errorf("%s: describes no column, must describe at least one", file)
	}
	if problems := domain.CheckDraft(file, created.Domain); len(problems) > 0 {
		return nil, true, problems
	}
	return created, true, nil
}

// importerOf tells forms apart by their keys.
func importerOf(data []byte) (importer, bool) {
	var top map[string]json.RawMessage
	if json.Unmarshal(data, &top) != nil {
		return nil, false
	}
	if all := slices.Collect(maps.Values(top)); len(all) > 0 && !slices.ContainsFunc(all,
		func(raw json.RawMessage) bool { return !coding(raw) }) {
		return nil, false
	}
	actual := func(key, begins string) bool { return bytes.HasPrefix(bytes.TrimSpace(top[key]), []byte(begins)) }
	var nested struct {
		Fields json.RawMessage `json:"fields"`
	}
	if actual("schema", "{") {
		json.Unmarshal(top["schema"], &nested)
	}
	switch {
	case actual("fields", "["), actual("resources", "["), bytes.HasPrefix(bytes.TrimSpace(nested.Fields), []byte("[")):
		return frictionless, true
	case actual("column_names", "["):
		return pyreadstat, true
	case actual("METADATA_SPEC_VERSION", `"`), actual("columns", "{") && !actual("schema", "{"), actual("tables", "{"):
		return sdv, true
	case dictionaryAlone(top):
		return dictionary, true
	}
	return nil, false
}

// coding reports whether an entry is a column of data-specs.
func coding(raw json.RawMessage) bool {
	var about map[string]json.RawMessage
	return json.Unmarshal(raw, &about) == nil && about["maxval"] != nil
}

// dictionaryAlone reports whether each entry is an object with a description or values.
func dictionaryAlone(top map[string]json.RawMessage) bool {
	for _, raw := range top {
		var about map[string]json.RawMessage
		if json.Unmarshal(raw, &about) != nil || about["description"] == nil && about["values"] == nil {
			return false
		}
	}
	return len(top) > 0
}

// dictionary reads a dictionary of NIST's excerpts (SDNist): codes with labels, and ranges.
func dictionary(e entry, _ string) Imported {
	book, d := NewBook(), &domain.Domain{}
	if err := book.dictionary(e.in.file, e.data); err != nil {
		e.wrong("", err.Error())
		return Imported{}
	}
	names, _ := e.keys()
	for _, name := range names {
		c := domain.Column{Name: name, Type: domain.Categorical, Source: "public"}
		about, by := book.Of(name)
		described(&c, about, by)
		d.Columns = append(d.Columns, c)
	}
	return Imported{Domain: d}
}

// described declares a column by a dictionary alone. Words beside a range stand for missing.
func described(c *domain.Column, topic Entry, key string) {
	switch {
	case topic.Range != nil:
		b := *topic.Range
		for _, code := range topic.Codes {
			if x, err := strconv.ParseFloat(code.Value, 64); err == nil && x-x == 0 {
				b = [2]float64{min(b[0], x), max(b[1], x)}
			} else {
				c.Missing, c.Nullable = append(c.Missing, code.Value), true
			}
		}
		whole := b[0] == math.Trunc(b[0]) && b[1] == math.Trunc(b[1])
		ranged(c, b, whole)
		if c.Doc = sentence(short(topic.Doc), "range by "+key); whole {
			undecided(c, topic.Doc, "range by "+key+", which does not say whether numbers are whole")
		}
	case len(topic.Codes) > 0:
		for _, code := range topic.Codes {
			c.Categories = append(c.Categories, code.Value)
		}
		c.Doc = sentence(short(topic.Doc), labels(topic.Codes), "codes by "+key)
	default:
		undecided(c, topic.Doc, "no values given")
	}
}

// undecided declares a column of which a file says too little: its type, if any, stays.
func undecided(c *domain.Column, doc, lacks string) {
	if c.Type == "" || c.Type.Coded() && len(c.Categories) == 0 {
		c.Type = domain.Text
	}
	c.Source, c.Doc = domain.Undecided, sentence(short(doc), lacks)
}

// listed declares the categories of a column; a value that comes twice is a problem of the domain.
func listed(c *domain.Column, values []string, ordered bool) {
	c.Type, c.Categories = domain.Categorical, slices.DeleteFunc(slices.Clone(values),
		func(v string) bool { return slices.Contains(c.Missing, v) })
	if ordered {
		c.Type = domain.Ordinal
	}
	c.Source, c.Bounds, c.Step = "public", nil, 0
}

// dated declares dates, date-times or times of day as strptime spells them, such as %d.%m.%Y; text, until a person
// decides, where a form has more than those.
func dated(c *domain.Column, doc, format string) {
	form := strings.NewReplacer("%Y", "YYYY", "%m", "MM", "%d", "DD", "%-m", "M", "%-d", "D", "%H", "HH", "%-H", "H",
		"%I", "hh", "%-I", "h", "%M", "mm", "%S", "ss",
		"%p", "AM", "%z", "Z").Replace(format)
	if _, ok := domain.ReadDayForm(form); ok {
		c.Type = domain.Date
		if c.Format = form; form == "YYYY-MM-DD" {
			c.Format = ""
		}
		return
	}
	moment, ok := domain.ReadMomentForm(form)
	if !ok {
		c.Type = domain.Text
		undecided(c, doc, "spelled as "+format+", for which a person has to find type and format")
		return
	}
	if c.Type, c.Step = domain.Time, 60; strings.Contains(form, "Y") {
		c.Type = domain.Datetime
	}
	if strings.Contains(form, "ss") {
		c.Step = 1
	}
	if moment.Zoned() {
		c.Zone = "UTC"
	}
	if c.Format = form; form == c.ISOForm() {
		c.Format = ""
	}
}
