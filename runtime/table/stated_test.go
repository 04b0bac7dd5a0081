package table

import (
	"bytes"
	"encoding/base64"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// longs returns a Parquet file of one required column x of 64 bits, with what a writer states in the footer.
func longs(t *testing.T, kind schema.LogicalType, stated map[string]string, values ...int64) []byte {
	t.Helper()
	node, err := schema.NewPrimitiveNodeLogical("x", parquet.Repetitions.Required, kind, parquet.Types.Int64, -1, -1)
	if err != nil {
		t.Fatal(err)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{node}, -1)
	if err != nil {
		t.Fatal(err)
	}
	entries := metadata.NewKeyValueMetadata()
	for key, value := range stated {
		if err := entries.Append(key, value); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, root, file.WithWriteMetadata(entries))
	group := w.AppendRowGroup()
	column, err := group.NextColumn()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := column.(*file.Int64ColumnChunkWriter).WriteBatch(values, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// arrowEntry returns what writers of Arrow state of a column x.
func arrowEntry(t *testing.T, kind arrow.DataType) string {
	t.Helper()
	var b bytes.Buffer
	if err := ipc.NewWriter(&b, ipc.WithSchema(arrow.NewSchema([]arrow.Field{{Name: "x", Type: kind}},
		nil))).Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// TestNaT: the least number of 64 bits among stored times is what pandas has for a missing one (NaT, the same bits in
// every unit), also where no level says that it is missing; the number after it is none.
func TestNaT(t *testing.T) {
	day := int64(secondsOfDay)
	for name, c := range map[string]struct {
		kind   schema.LogicalType
		column domain.Column
		value  int64
		want   string
	}{
		"ns": {schema.NewTimestampLogicalType(false, schema.TimeUnitNanos), domain.Column{Type: domain.Datetime, Step: 1},
			day * 1e9, "1970-01-02T00:00:00"},
		"us": {schema.NewTimestampLogicalType(true, schema.TimeUnitMicros),
			domain.Column{Type: domain.Datetime, Step: 1, Zone: "UTC"}, day * 1e6, "1970-01-02T00:00:00Z"},
		"time": {schema.NewTimeLogicalType(false, schema.TimeUnitMicros), domain.Column{Type: domain.Time, Step: 1}, 60e6,
			"00:01:00"},
	} {
		c.column.Name, c.column.Nullable = "x", true
		files := fstest.MapFS{"f": {Data: longs(t, c.kind, nil, c.value, math.MinInt64)}}
		d := &domain.Domain{Columns: []domain.Column{c.column}}
		got, err := Open(files, "f", nil, d)
		if err != nil {
			t.Fatal(err)
		}
		if rows := asCSV(t, got); rows != "x\n"+c.want+"\n\"\"\n" && rows != "x\n"+c.want+"\n\n" {
			t.Errorf("%s: %q, must be %s and a missing one", name, rows, c.want)
		}
		d.Columns[0].Nullable = false
		if got, err = Open(files, "f", nil, d); err == nil {
			_, err = got.Collect(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), `row 2: column "x": is missing`) {
			t.Errorf("%s: %v, must be refused as missing", name, err)
		}
		raw, err := OpenRaw(t.Context(), files, "f", nil)
		if err != nil {
			t.Fatal(err)
		}
		var cells []string
		for row, err := range raw.Rows {
			if err != nil {
				t.Fatal(err)
			}
			cells = append(cells, string(row[0]))
		}
		if strings.Join(cells, ",") != c.want+"," {
			t.Errorf("%s: drafts see %q", name, cells)
		}
	}
	d := &domain.Domain{Columns: []domain.Column{{Name: "x", Type: domain.Integer}}}
	got, err := Open(fstest.MapFS{"f": {Data: longs(t, schema.NoLogicalType{}, nil, math.MinInt64)}}, "f", nil, d)
	if err != nil {
		t.Fatal(err)
	}
	if rows := asCSV(t, got); rows != "x\n-9223372036854775808\n" {
		t.Errorf("a whole number is read as %q", rows)
	}
}

// TestLengthsOfTime: what a writer states to be a length of time is not a whole number and no time of day, whichever of
// the two ways it states it; a damaged entry, or one of another column, says nothing.
func TestLengthsOfTime(t *testing.T) {
	const pandas = `{"columns": [{"name": "x", "field_name": "x", "pandas_type": "timedelta", ` +
		`"numpy_type": "timedelta64[ns]", "metadata": null}]}`
	clock := schema.NewTimeLogicalType(false, schema.TimeUnitMicros)
	for name, c := range map[string]struct {
		kind   schema.LogicalType
		stated map[string]string
		length bool
	}{
		"arrow": {schema.NoLogicalType{}, map[string]string{"ARROW:schema": arrowEntry(t,
			arrow.FixedWidthTypes.Duration_ns)}, true},
		"pandas":      {schema.NoLogicalType{}, map[string]string{"pandas": pandas}, true},
		"fastparquet": {clock, map[string]string{"pandas": pandas}, true},
		"integers": {schema.NoLogicalType{}, map[string]string{"ARROW:schema": arrowEntry(t,
			arrow.PrimitiveTypes.Int64)}, false},
		"times": {clock, map[string]string{"pandas": strings.ReplaceAll(pandas, "timedelta", "time")}, false},
		"another column": {schema.NoLogicalType{}, map[string]string{"pandas": strings.ReplaceAll(pandas, `"x"`, `"y"`)},
			false},
		"damaged": {schema.NoLogicalType{}, map[string]string{"ARROW:schema": arrowEntry(t,
			arrow.FixedWidthTypes.Duration_ns)[:80], "pandas": "{"}, false},
		"none": {schema.NoLogicalType{}, nil, false},
	} {
		files := fstest.MapFS{"f": {Data: longs(t, c.kind, c.stated, 7)}}
		d := &domain.Domain{Columns: []domain.Column{{Name: "x", Type: domain.Integer}}}
		if c.kind == schema.LogicalType(clock) {
			d.Columns[0] = domain.Column{Name: "x", Type: domain.Time, Step: 1}
		}
		_, err := Open(files, "f", nil, d)
		if told := err != nil && strings.Contains(err.Error(), `column "x": is stored as duration`); told != c.length ||
			!c.length && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		raw, err := OpenRaw(t.Context(), files, "f", &pipeline.CSV{})
		if (err != nil) != c.length || err == nil && len(raw.Unread) > 0 {
			t.Errorf("%s, drafted: %+v, %v", name, raw, err)
		}
	}
}
