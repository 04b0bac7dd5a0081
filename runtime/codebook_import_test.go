package runtime_test

import (
	"fmt"
	"strings"
	"testing"

	"weir/pipeline/domain"
	"weir/pipeline/spec"
	"weir/runtime/codebook"
)

// The same small table as each form describes it; what pyreadstat says is by version 1.3.
const (
	frictionless = `{"resources": [{"name": "stays", "path": "s.csv", "encoding": "windows-1252", "dialect": {"delimiter": ";", "header": false}, "schema": {
		"missingValues": ["", "NA"], "primaryKey": "key", "fields": [
		{"name": "key", "type": "string"},
		{"name": "sex", "type": "string", "title": "Sex", "constraints": {"required": true, "enum": ["f", "m"]}},
		{"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 120}, "missingValues": ["-9"]},
		{"name": "dose", "type": "number", "decimalChar": ",", "groupChar": ".", "constraints": {"minimum": 0.5, "maximum": 900}},
		{"name": "born", "type": "date", "format": "%d.%m.%Y", "constraints": {"minimum": "1900-01-01", "maximum": "2024-12-31"}},
		{"name": "grade", "type": "integer", "categories": [{"value": 1, "label": "low"}, 2, 3], "categoriesOrdered": true},
		{"name": "smokes", "type": "boolean", "trueValues": ["yes", "y"], "falseValues": ["no"]},
		{"name": "note", "type": "string"}, {"name": "weight", "type": "number"}, {"name": "seen", "type": "datetime"}, {"name": "free", "type": "date", "format": "any"},
		{"name": "at", "type": "time", "format": "%I:%M %p"}, {"name": "stay", "type": "datetime", "format": "%d.%m.%Y %H:%M", "constraints": {"minimum": "1970-01-01T00:00", "maximum": "1970-01-02T00:01"}}]}}]}`
	sdvText = `{"METADATA_SPEC_VERSION": "SINGLE_TABLE_V1", "primary_key": "key", "sequence_key": "who", "columns": {
		"key": {"sdtype": "id", "regex_format": "K[0-9]{3}"}, "who": {"sdtype": "id"}, "age": {"sdtype": "numerical", "computer_representation": "Int64"},
		"dose": {"sdtype": "numerical"}, "ward": {"sdtype": "categorical"}, "grade": {"sdtype": "categorical", "order": [1, "2", 3.5]},
		"flag": {"sdtype": "boolean"}, "born": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d"}, "seen": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d %H:%M"},
		"mail": {"sdtype": "email", "pii": true}}}`
	statText = `{"column_names": ["key", "sex", "age", "score", "when", "name", "free"], "column_labels": ["key", "Sex", null, "Score", "Day", "Name", "Free"],
		"variable_value_labels": {"sex": {"2.0": "female", "1.0": "male", "9.0": "refused"}, "score": {"1.0": "low", "3.0": "high", "98.0": "unknown", "99.0": "no answer"}, "free": {"1": "yes"}, "age": {"0.0": "newborn"}},
		"variable_measure": {"sex": "nominal", "score": "ordinal", "age": "scale", "free": "unknown"}, "missing_ranges": {"sex": [{"lo": 9.0, "hi": 9.0}], "score": [{"lo": 90, "hi": 99}]},
		"missing_user_values": {}, "readstat_variable_types": {"name": "string", "age": "double"}, "original_variable_types": {"when": "DATE11", "key": "DATETIME20"}}`
	ddi = `<?xml version="1.0" encoding="UTF-8"?>
<codeBook xmlns="ddi:codebook:2_5" version="2.5"><stdyDscr><citation/></stdyDscr><dataDscr>
<var ID="SEX" name="SEX" dcml="0" intrvl="discrete"><labl>Sex</labl><txt>text</txt>
  <catgry><catValu>01</catValu><labl>Male</labl></catgry><catgry><catValu>02</catValu><labl>Female</labl></catgry>
  <catgry missing="Y"><catValu>09</catValu><labl>Missing</labl></catgry><varFormat type="numeric" schema="other"/></var>
<var ID="AGE" name="AGE" dcml="0" intrvl="contin"><valrng><range UNITS="INT" min="0" max="120"/></valrng><invalrng><item VALUE="999"/></invalrng><labl>Age</labl><varFormat type="numeric"/></var>
<var ID="INC" name="INC" dcml="2" intrvl="contin"><labl>Income</labl><catgry><catValu>9999999</catValu><labl>N/A</labl></catgry><varFormat type="numeric"/></var>
<var ID="TXT" name="TXT" intrvl="discrete"><labl>Town</labl><varFormat type="character"/></var>
</dataDscr></codeBook>`
)

func importText(t *testing.T, file, text string) *codebook.Imported {
	t.Helper()
	created, ok, err := codebook.Import(file, []byte(text), "")
	if err != nil || !ok {
		t.Fatalf("%s: %v, %v", file, ok, err)
	}
	return created
}

// TestImport: each form says of each column what it says, and what it does not say is undecided.
func TestImport(t *testing.T) {
	for file, c := range map[string]struct {
		text  string
		want  map[string]string
		needs string
	}{
		"datapackage.json": {frictionless, map[string]string{
			"key": `text [] [] 0 "" [NA] true public`, "sex": `categorical [f m] [] 0 "" [NA] true public`,
			"age":    `integer [] [0 120] 1 "" [-9] true public`,
			"dose":   `numeric [] [0.5 900] 0 "1.234,5" [NA] true public`,
			"born":   `date [] [-25567 20088] 0 "DD.MM.YYYY" [NA] true public`,
			"grade":  `ordinal [1 2 3] [] 0 "" [NA] true public`,
			"smokes": `boolean [no yes] [] 0 "" [NA] true public`, "note": `text [] [] 0 "" [NA] true UNDECIDED`,
			"weight": `numeric [] [] 0 "" [NA] true UNDECIDED`, "seen": `datetime [] [] 1 "" [NA] true UNDECIDED`,
			"free": `text [] [] 0 "" [NA] true UNDECIDED`, "at": `time [] [] 60 "hh:mm AM" [NA] true UNDECIDED`,
			"stay": `datetime [] [0 86460] 60 "DD.MM.YYYY HH:mm" [NA] true public`,
		}, `dataset: {file: ..., csv: {encoding: "windows-1252", delimiter: ";", header: false}}`},
		"metadata.json": {sdvText, map[string]string{
			"key": `text [] [] 0 "" [] false public`, "who": `text [] [] 0 "" [] false public`,
			"age": `integer [] [] 1 "" [] false UNDECIDED`, "dose": `numeric [] [] 0 "" [] false UNDECIDED`,
			"ward": `categorical [] [] 0 "" [] false UNDECIDED`, "grade": `ordinal [1 2 3.5] [] 0 "" [] false public`,
			"flag": `boolean [] [] 0 "" [] false UNDECIDED`,
			"born": `date [] [] 0 "" [] false UNDECIDED`, "seen": `datetime [] [] 60 "YYYY-MM-DD HH:mm" [] false UNDECIDED`,
			"mail": `text [] [] 0 "" [] false public`,
		}, `dataset: {privacy_unit: {column: "who", max_rows: ...}}, if its values are persons`},
		"labels.json": {statText, map[string]string{
			"key": `datetime [] [] 1 "YYYY-MM-DD HH:mm:ss" [] false UNDECIDED`,
			"sex": `categorical [1 2] [] 0 "" [9 9.0] true public`, "age": `numeric [] [] 0 "" [] false UNDECIDED`,
			"score": `ordinal [1 3] [] 0 "" [98 99 98.0 99.0] true public`, "when": `date [] [] 0 "" [] false UNDECIDED`,
			"name": `text [] [] 0 "" [] false UNDECIDED`,
			"free": `categorical [1] [] 0 "" [] false UNDECIDED`,
		}, ""},
		"ipums.xml": {ddi, map[string]string{
			"SEX": `categorical [1 2] [] 0 "" [9] true public`, "AGE": `integer [] [0 120] 1 "" [999] true public`,
			"INC": `numeric [] [] 0.01 "" [] false UNDECIDED`,
			"TXT": `text [] [] 0 "" [] false UNDECIDED`,
		}, ""},
		"dictionary.json": {dictionary, map[string]string{
			"SEX": `categorical [1 2 3] [] 0 "" [] false public`, "NOC": `integer [] [0 19] 1 "" [N] true UNDECIDED`,
			"DEN": `numeric [] [16.3 528.7] 0 "" [] false public`,
			"IND": `text [] [] 0 "" [] false UNDECIDED`, "OTHER": `text [] [] 0 "" [] false UNDECIDED`,
		}, ""},
	} {
		created := importText(t, file, c.text)
		if len(created.Domain.Columns) != len(c.want) {
			t.Errorf("%s: columns %v", file, created.Domain.Names())
		}
		for _, column := range created.Domain.Columns {
			var bounds []float64
			if column.Bounds != nil {
				bounds = column.Bounds[:]
			}
			got := fmt.Sprintf("%s %v %v %g %q %v %v %s", column.Type, column.Categories, bounds, column.Step, column.Format,
				column.Missing, column.Nullable, column.Source)
			if want := c.want[column.Name]; got != want {
				t.Errorf("%s: %s: %s, must be %s (%s)", file, column.Name, got, want, column.Doc)
			}
		}
		if got := strings.Join(created.Needs, "\n"); got != c.needs {
			t.Errorf("%s: needs %q", file, got)
		}
		text, err := codebook.YAML(created.Domain)
		must(t, err)
		if _, err := spec.ParseDomain("d.yaml", []byte(strings.ReplaceAll(string(text), domain.Undecided, "public"))); err !=
			nil {
			t.Errorf("%s: what was signed is no domain: %v\n%s", file, err, text)
		}
	}
}

// TestImportNamesPlaces: an entry that a form does not have is a problem with its place, all of them at once.
func TestImportNamesPlaces(t *testing.T) {
	for file, c := range map[string][]string{
		"a.json": {`{"fields": [{"name": "x", "type": "strin"}, {"name": "y", "constraints": {"minimun": 3}, "colour": 1}]}`,
			`a.json: fields[0].type: is "strin"`, `a.json: fields[1].constraints.minimun: is "minimun"`,
			`a.json: fields[1].colour: is "colour"`},
		"b.json": {`{"fields": [{"name": 3}]}`, `b.json: fields[0].name: is "3", must be text`},
		"c.json": {`{"resources": [{"name": "a"}, {"name": "b"}]}`, "c.json: resources: is", "--table names one",
			"must be one of a, b"},
		"d.json": {`{"fields": [{"name": "x", "type": "integer", "constraints": {"minimum": "low", "maximum": 3}}]}`,
			`d.json: fields[0].constraints.minimum: is "\"low\"", must be a number`},
		"e.json": {`{"METADATA_SPEC_VERSION": "V1", "columns": {"a": {"sdtype": "numeric"}, "b": {}}}`,
			`e.json: columns.a.sdtype: is "numeric"`, `e.json: columns.b: is without sdtype`},
		"f.json": {`{"tables": {"one": {}, "two": {}}}`, "f.json: tables: is", "must be one of one, two"},
		"g.json": {`{"column_names": ["a"], "variable_measure": {"a": "nominale"}, "other": 1}`,
			`g.json: variable_measure.a: is "nominale"`, `g.json: other: is "other"`},
		"h.json": {`{"fields": [{"name": "x"}, {"name": "x"}]}`,
			"h.json: columns[1].name: is a text of the file, a duplicate column"},
		"i.json": {`{"fields": [{"name": "x", "name": "y"}]}`, "i.json: fields[0]: is ", "an object, each key once"},
		"j.json": {`{"fields": []}`, "j.json: describes no column, must describe at least one"},
		"k.xml": {strings.Replace(ddi, `intrvl="contin"><valrng>`, `intrvl="continuous"><valrng>`, 1),
			`k.xml:6:1: var.intrvl: is "continuous"`},
		"l.xml": {strings.Replace(ddi, `dcml="2"`, `dcml="two"`, 1), `l.xml:7:1: var.dcml: is "two"`},
		"m.xml": {`<html></html>`, `m.xml:1: is an XML document of the element "html", must be a DDI codebook`},
		"n.xml": {strings.Replace(ddi, "</codeBook>", "", 1), "n.xml:9: is damaged"},
		"o.xml": {strings.Replace(ddi, "UTF-8", "latin-1", 1), `is in the encoding "latin-1", must be UTF-8`},
		"p.json": {`{"fields": [{"name": "x", "type": "boolean", "trueValues": []}]}`,
			`p.json: fields[0].type: is boolean with an empty list of spellings`},
		"q.json": {`{"schema": {"fields": [{"name": "x"}]}, "encoding": 7}`, `q.json: encoding: is "7", must be text`},
		"r.xml": {`<!DOCTYPE a [<!ENTITY b "bb">]><codeBook><dataDscr><var name="&b;"/></dataDscr></codeBook>`,
			"r.xml:1: is damaged"},
		"t.json": {`{"column_names": ["a"], "missing_ranges": {"a": [{"lo": 3}]}}`,
			`t.json: missing_ranges.a[0]: is without hi`},
		"u.json": {`{"fields": [{"type": "boolean", "categories": [{"label": "x"}]}], "missingValues": [{}]}`,
			`u.json: fields[0].categories[0]: is without value`, `u.json: missingValues[0]: is without value`},
		"v.json": {`{"fields": [{"type": "boolean"}]}`, `v.json: columns[0].name: is `},
		"s.json": {`{"fields": [{"name": "x"}]`, "is damaged"},
	} {
		_, ok, err := codebook.Import(file, []byte(c[0]), "")
		if file == "s.json" { // damage is found by the form that reads it next
			if ok {
				t.Errorf("%s is a form", file)
			}
			continue
		}
		for _, want := range c[1:] {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, must say %q", file, err, want)
			}
		}
	}
	for _, text := range []string{specs, excerptOf, `{"columns": {"type": "enum", "maxval": 3}}`, "", "[1]", "prose"} {
		if _, ok, err := codebook.Import("x", []byte(text), ""); ok || err != nil {
			t.Errorf("%.30q is taken for one of these forms: %v", text, err)
		}
	}
	if made, ok, err := codebook.Import("c.json",
		[]byte(`{"resources": [{"name": "a"}, {"name": "b", "schema": {"fields": [{"name": "x"}]}}]}`), "b"); !ok ||
		err != nil || made.Domain.Columns[0].Name != "x" {
		t.Errorf("a named table: %v", err)
	}
}

// FuzzImportAlone: whatever a file holds, there is a domain that a spec can read once it is signed, or an error.
func FuzzImportAlone(f *testing.F) {
	for _, text := range []string{frictionless, sdvText, statText, ddi, dictionary, specs,
		`{"fields": [{"name": "\u202e"}]}`, `{"column_names": [null, 1e400]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		created, ok, err := codebook.Import("f", data, "")
		if !ok || err != nil {
			return
		}
		text, err := codebook.YAML(created.Domain, created.Needs...)
		if err != nil {
			return
		}
		if _, err := spec.ParseDomain("d.yaml", text); err != nil && !strings.Contains(err.Error(), domain.Undecided) {
			t.Fatalf("%v\n%s", err, text)
		}
	})
}
