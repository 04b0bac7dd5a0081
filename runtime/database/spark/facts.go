package spark

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/runtime/database/sql"
)

// Table is a table or view, as the catalogue has it.
type Table struct {
	View    bool
	Columns []Column
}

// Column is a column that is stored.
type Column struct {
	Name string `json:"name"`
	Type struct {
		Name   string `json:"name"`      // Spark's word, such as bigint; timestamp_ltz has a zone, timestamp_ntz has none
		Digits int32  `json:"precision"` // of decimal
		Scale  int32  `json:"scale"`     // of decimal
	} `json:"type"`
}

// description is what is read of the answer of DESCRIBE TABLE EXTENDED ... AS JSON.
type description struct {
	Type     string            `json:"type"`
	Provider string            `json:"provider"`
	Storage  map[string]string `json:"storage_properties"`
	Table    map[string]string `json:"table_properties"`
	Columns  []Column          `json:"columns"`
}

// facts looks a table up and refuses one whose rows are not read alike, or not all of them.
func (l *link) facts(ctx context.Context, place Place, name []string) (Table, error) {
	rows, err := l.rows(ctx, "the table's description", "DESCRIBE TABLE EXTENDED "+quoted(name...)+" AS JSON", 1)
	if err != nil {
		return Table{}, fmt.Errorf("table: %w", err)
	}
	var d description
	if len(rows) != 1 || json.Unmarshal([]byte(rows[0][0]), &d) != nil {
		return Table{}, fmt.Errorf("table: %s: has a description of an unknown form, must be as Spark 4 describes it",
			place.Table)
	}
	return Table{d.Type == "VIEW", d.Columns}, errors.Join(d.check(place), l.scratch(ctx, place.Scratch))
}

// version returns the version of Spark and refuses one that has no descriptions in JSON and no collations.
func (l *link) version(ctx context.Context) (string, error) {
	rows, err := l.rows(ctx, "its version", "SELECT version()", 1)
	if err != nil {
		return "", err
	}
	if len(rows) != 1 {
		return "", errAnswer
	}
	version, _, _ := strings.Cut(rows[0][0], " ")
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < 4 || len(version) > 20 {
		return "", errors.New("server: is older than Spark 4 or of another program, must be Spark 4 or later")
	}
	return version, nil
}

// scratch refuses a schema that is not there, before anything is computed for it.
func (l *link) scratch(ctx context.Context, schema string) error {
	if err := l.run(ctx, "the description of the scratch schema", "DESCRIBE SCHEMA "+quoted(strings.Split(schema, ".")...),
		0, nil); err != nil {
		return fmt.Errorf("scratch: %s: %w; it must be a schema in which the user may create tables", schema, err)
	}
	return nil
}

// providers returns the formats whose cells have types that are stored. Rows of texts (CSV, JSON) are what a reader's
// options make of them, of malformed ones too.
func providers() []string { return []string{"delta", "iceberg", "orc", "parquet"} }

// check refuses tables of which not all rows are counted, or not the same ones each time.
func (d description) check(place Place) error {
	var errs []error
	versioned := d.Provider == "delta" || d.Provider == "iceberg"
	switch {
	case d.Type == "VIEW":
	case d.Type != "MANAGED" && d.Type != "EXTERNAL":
		errs = append(errs, fmt.Errorf("table: %s is neither a table nor a view, must be one", place.Table))
	case !slices.Contains(providers(), strings.ToLower(d.Provider)):
		errs = append(errs, fmt.Errorf("table: %s is stored in another format, must be stored as one of "+
			"%s, whose cells have the types of the catalogue", place.Table, strings.Join(providers(), ", ")))
	}
	if place.Version != "" && !versioned {
		errs = append(errs, fmt.Errorf("version_as_of: %s keeps no versions; leave it out", place.Table))
	}
	for _, options := range []map[string]string{d.Storage, d.Table} {
		for key, value := range options {
			key = strings.ToLower(strings.TrimPrefix(key, "option."))
			if (key == "ignorecorruptfiles" || key == "ignoremissingfiles") && !strings.EqualFold(value, "false") {
				errs = append(errs, fmt.Errorf("table: the option %s of %s is set, must be false: counts would not be of all rows",
					key, place.Table))
			}
		}
	}
	return errors.Join(errs...)
}

// storage is how cells of a type are computed with, and the Arrow type that is held against a domain.
type storage struct {
	sql   sql.Storage
	arrow arrow.DataType
}

// storages lists the types that are computed with, but for decimals.
func storages() map[string]storage {
	whole := storage{sql.Integer, arrow.PrimitiveTypes.Int64}
	return map[string]storage{
		"tinyint": whole, "smallint": whole, "int": whole, "bigint": whole,
		"float": {sql.Double, arrow.PrimitiveTypes.Float32}, "double": {sql.Double, arrow.PrimitiveTypes.Float64},
		"boolean": {sql.Flag, arrow.FixedWidthTypes.Boolean}, "string": {sql.Words, arrow.BinaryTypes.String},
		"date":          {sql.Day, arrow.FixedWidthTypes.Date32},
		"timestamp_ltz": {sql.Stamp, &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}},
		"timestamp_ntz": {sql.Stamp, &arrow.TimestampType{Unit: arrow.Microsecond}},
	}
}

// storage returns the storage of the column; one of a type that is not computed with is refused by whoever reads it.
func (c Column) storage() storage {
	if c.Type.Name == "decimal" {
		return storage{sql.Decimal, &arrow.Decimal128Type{Precision: c.Type.Digits, Scale: c.Type.Scale}}
	}
	if s, is := storages()[c.Type.Name]; is {
		return s
	}
	return storage{sql.Storage(strconv.Quote(c.Type.Name)), arrow.Null}
}

// StoredColumn returns how the column is stored.
func (c Column) StoredColumn() sql.Stored {
	return sql.Stored{Name: c.Name, Storage: c.storage().sql, Digits: int(c.Type.Digits)}
}

// Arrow returns the Arrow type of the column's values.
func (c Column) Arrow() arrow.DataType { return c.storage().arrow }
