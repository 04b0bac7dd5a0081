package table

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline/domain"
)

// textColumns are a date, a number, a whole number and a flag stored as text.
func textColumns(t *testing.T, of arrow.DataType, rows ...[4]string) arrow.Record {
	t.Helper()
	var fields []arrow.Field
	for _, name := range []string{"day", "x", "n", "yes"} {
		fields = append(fields, arrow.Field{Name: name, Type: of, Nullable: true})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	for _, r := range rows {
		for i, v := range r {
			if v == "-" {
				b.Field(i).AppendNull()
			} else if err := b.Field(i).AppendValueFromString(v); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.NewRecord()
}

func textTypes() map[string]arrow.DataType {
	return map[string]arrow.DataType{"utf8": arrow.BinaryTypes.String, "large": arrow.BinaryTypes.LargeString,
		"dictionary": &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}}
}

func textDomain() *domain.Domain {
	return &domain.Domain{Columns: []domain.Column{{Name: "day", Type: domain.Date, Nullable: true}, {Name: "x", Type: domain.Numeric, Missing: domain.Spellings{"NA"}, Nullable: true},
		{Name: "n", Type: domain.Integer, Nullable: true}, {Name: "yes", Type: domain.Boolean, Nullable: true}}}
}

// TestTextIsReadAsInCSV: 2025-01-31 is day 20119 since 1970-01-01 (55 years of 365 days,
// 14 leap days, 30 of January).
func TestTextIsReadAsInCSV(t *testing.T) {
	for kind, of := range textTypes() {
		record := textColumns(t, of, [4]string{"2025-01-31", "2.50", "4.0", "true"}, [4]string{"-", "NA", "-", "0"}, [4]string{"1970-01-01", "-1e2", "7", "-"})
		for name, data := range forms(t, record) {
			got := reread(t, name, data, nil, textDomain())
			for i, want := range []string{"[20119 (null) 0]", "[2.5 (null) -100]", "[4 (null) 7]", "[1 0 (null)]"} {
				if s := got.Column(i).String(); s != want {
					t.Errorf("%s of %s: column %s is %s, must be %s", name, kind, got.ColumnName(i), s, want)
				}
			}
		}
	}
}

// TestBadTextIsNamedAsInCSV: by the rules of CSV, and never quoted.
func TestBadTextIsNamedAsInCSV(t *testing.T) {
	for kind, of := range textTypes() {
		record := textColumns(t, of, [4]string{"31.01.7771", "7771x", "7771.5", "yes7771"}, [4]string{"7771-02-30", "inf", "7,771", "2"})
		for name, data := range forms(t, record) {
			table, err := Open(fstest.MapFS{name: {Data: data}}, name, nil, textDomain())
			if err != nil {
				t.Fatal(err)
			}
			_, err = table.Collect(t.Context())
			for _, want := range []string{`row 1: column "day": ` + ruleDate + " (and 1 more", `row 1: column "x": ` + ruleNumber, `row 2: column "x": ` + ruleFinite,
				`row 1: column "n": ` + ruleWhole, `row 2: column "n": ` + ruleComma, `row 1: column "yes": ` + ruleCategory} {
				if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "777") || strings.Contains(err.Error(), "7,771") {
					t.Errorf("%s of %s: %v, must say %s", name, kind, err, want)
				}
			}
		}
	}
}
