package table

import (
	"bytes"
	"context"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// foreign returns a record as other programs write it: other types than ours.
func foreign(t testing.TB) arrow.Record {
	t.Helper()
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "i32", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "f32", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		{Name: "gaps", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "day", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
		{Name: "word", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "dict", Type: dictionary, Nullable: true},
		{Name: "code", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "flag", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	valid := []bool{true, false, true}
	b.Field(0).(*array.Int32Builder).AppendValues([]int32{1, 2, 3}, valid)
	b.Field(1).(*array.Float32Builder).AppendValues([]float32{0.5, 2, -3}, valid)
	b.Field(2).(*array.Float64Builder).AppendValues([]float64{4, 5, 6}, valid)
	b.Field(3).(*array.Date32Builder).AppendValues([]arrow.Date32{10, 11, 12}, valid)
	b.Field(4).(*array.StringBuilder).AppendValues([]string{"red", "blue", "blue"}, valid)
	for _, s := range []string{"red", "", "blue"} {
		if d := b.Field(5).(*array.BinaryDictionaryBuilder); s == "" {
			d.AppendNull()
		} else if err := d.AppendString(s); err != nil {
			t.Fatal(err)
		}
	}
	b.Field(6).(*array.Int64Builder).AppendValues([]int64{2, 2, 1}, valid)
	b.Field(7).(*array.BooleanBuilder).AppendValues([]bool{true, true, false}, valid)
	return b.NewRecord()
}

// TestSameProblemInTwoBatches: each batch is short of the cells that are wrong; neither is a
// damaged file.
func TestSameProblemInTwoBatches(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{{Name: "x", Type: domain.Integer}, {Name: "y", Type: domain.Integer}}}
	s := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64},
		{Name: "y", Type: arrow.PrimitiveTypes.Float64}}, nil)
	bad, good := array.NewFloat64Builder(memory.DefaultAllocator), array.NewFloat64Builder(memory.DefaultAllocator)
	bad.AppendValues([]float64{1, 0.5, 2}, nil)
	good.AppendValues([]float64{1, 5, 2}, nil)
	r := array.NewRecord(s, []arrow.Array{bad.NewArray(), good.NewArray()}, 3)
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(s))
	for range 3 {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	table, err := Open(fstest.MapFS{"f": {Data: b.Bytes()}}, "f", nil, d)
	if err != nil {
		t.Fatal(err)
	}
	const want = "f: row 2: column \"x\": " + ruleWhole + " (and 2 more such rows read)"
	for _, err := range table.Open(t.Context()) {
		if err == nil || err.Error() != want {
			t.Errorf("%v, must be %s", err, want)
		}
	}
}

func foreignDomain() *domain.Domain {
	colours := []string{"blue", "red"}
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "flag", Type: domain.Boolean, Categories: []string{"0", "1"}},
		{Name: "code", Type: domain.Ordinal, Categories: []string{"1", "2"}},
		{Name: "dict", Type: domain.Categorical, Categories: colours},
		{Name: "word", Type: domain.Categorical, Categories: colours},
		{Name: "day", Type: domain.Date},
		{Name: "gaps", Type: domain.Integer},
		{Name: "f32", Type: domain.Numeric},
		{Name: "i32", Type: domain.Integer},
	}}
	for i := range d.Columns {
		d.Columns[i].Nullable = true
	}
	return d
}

// forms writes a record as Parquet, Arrow file and Arrow stream.
func forms(t testing.TB, r arrow.Record) map[string][]byte {
	t.Helper()
	var parquet, stream bytes.Buffer
	w, err := pqarrow.NewFileWriter(r.Schema(), &parquet, nil, pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(r); err != nil {
		t.Fatal(err)
	}
	w.Close()
	s := ipc.NewWriter(&stream, ipc.WithSchema(r.Schema()))
	s.Write(r)
	s.Close()
	file := &seeker{}
	f, err := ipc.NewFileWriter(file, ipc.WithSchema(r.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	f.Write(r)
	f.Close()
	return map[string][]byte{"f.parquet": parquet.Bytes(), "f.arrows": stream.Bytes(), "f.arrow": file.Bytes()}
}

// seeker knows its position, which the Arrow file writer asks for.
type seeker struct{ bytes.Buffer }

func (s *seeker) Seek(int64, int) (int64, error) { return int64(s.Len()), nil }

func TestForeignTypesAreCastSafely(t *testing.T) {
	for name, data := range forms(t, foreign(t)) {
		got := reread(t, name, data, nil, foreignDomain())
		want := []string{"[1 (null) 0]", "[1 (null) 0]", "[1 (null) 0]", "[1 (null) 0]", "[10 (null) 12]", "[4 (null) 6]",
			"[0.5 (null) -3]", "[1 (null) 3]"}
		for i, w := range want {
			if s := got.Column(i).String(); s != w {
				t.Errorf("%s: column %s is %s, must be %s", name, got.ColumnName(i), s, w)
			}
		}
	}
}

func TestOtherTypesAreNamed(t *testing.T) {
	d := foreignDomain()
	d.Column("flag").Type, d.Column("flag").Categories = domain.Numeric, nil
	d.Column("i32").Type = domain.Date
	for name, data := range forms(t, foreign(t)) {
		_, err := Open(fstest.MapFS{name: {Data: data}}, name, nil, d)
		for _, want := range []string{name, `column "flag": is stored as`,
			"which is not numeric; accepted: a float, integer or decimal " +
				"type", `column "i32": is stored as int32, which is not date; accepted: date32`} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, must say %s", name, err, want)
			}
		}
	}
}

func TestBadStoredValuesAreNamedByRow(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "n", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "c", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.Float64Builder).AppendValues([]float64{1, math.NaN()}, nil)
	b.Field(1).(*array.Float64Builder).AppendValues([]float64{7771.5, 1}, nil)
	b.Field(2).(*array.StringBuilder).AppendValues([]string{"red", "secret777"}, nil)
	for name, data := range forms(t, b.NewRecord()) {
		table, err := Open(fstest.MapFS{name: {Data: data}}, name, nil, small())
		if err != nil {
			t.Fatal(err)
		}
		_, err = table.Collect(context.Background())
		for _, want := range []string{`row 2: column "x": is not a finite number`, `row 1: column "n": is not a whole number`,
			`row 2: column "c": is outside the declared categories`} {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "777") {
				t.Errorf("%s: %v, must say %s", name, err, want)
			}
		}
	}
}

// TestCutFilesAreErrors cuts stored files everywhere: a cut is always noticed and
// never a panic.
func TestCutFilesAreErrors(t *testing.T) {
	read := func(name string, data []byte) error {
		table, err := Open(fstest.MapFS{name: {Data: data}}, name, nil, foreignDomain())
		if err == nil {
			_, err = table.Collect(context.Background())
		}
		return err
	}
	for name, data := range forms(t, foreign(t)) {
		for cut := 0; cut < len(data); cut += 7 {
			if read(name, data[:cut]) == nil {
				t.Fatalf("%s cut at %d of %d bytes: no error", name, cut, len(data))
			}
		}
	}
}

// TestAlteredParquetDoesNotPanic changes bytes at random (fixed seed): errors
// and other rows may come of it.
func TestAlteredParquetDoesNotPanic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	data := forms(t, foreign(t))["f.parquet"]
	refused := 0
	for range 400 {
		altered := bytes.Clone(data)
		for range 1 + r.IntN(4) {
			altered[r.IntN(len(altered))] = byte(r.Uint32())
		}
		table, err := Open(fstest.MapFS{"f.parquet": {Data: altered}}, "f.parquet", nil, foreignDomain())
		if err == nil {
			_, err = table.Collect(context.Background())
		}
		if err != nil {
			refused++
		}
	}
	if refused < 200 { // 345 when written: most bytes of so small a file are its index
		t.Errorf("%d of 400 altered files are refused", refused)
	}
}

// FuzzReadCSV holds the reader to three promises: no panic, no value in an
// error, and rows that are written back are read again.
func FuzzReadCSV(f *testing.F) {
	for _, s := range []string{"n,x,c\n1,2.5,red\n", "n,x,c\r\n\"1\",\"\",blue", "n,x,c\n1,\"2\n", "\"\"\"\n,,\x00",
		"n,x,c\n99,1e5,red\n\n\n4.0,-.5,blue\n", "n\n"} {
		f.Add(s, byte(','))
	}
	f.Add("n;x;c\n1;2;red\n", byte(';'))
	f.Fuzz(func(t *testing.T, text string, delimiter byte) {
		csv := &pipeline.CSV{Delimiter: string(rune(delimiter % 128))}
		table, err := openWith(fstest.MapFS{"f.csv": {Data: []byte(text)}}, "f.csv", csv, small(),
			options{BatchRows: 3, Workers: 2})
		if err != nil {
			return
		}
		rows, err := table.Collect(context.Background())
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := writeText(context.Background(), &out, table, csv); err != nil {
			t.Fatalf("read and not written: %v", err)
		}
		if again := reread(t, "f.csv", out.Bytes(), csv, small()); !array.RecordEqual(rows, again) {
			t.Errorf("rows differ: %q became %q", text, out.String())
		}
	})
}

// TestStoredFlagsNeedTheirWords: a stored boolean is false or true. Categories that are spelled otherwise are refused
// as a column, before a row is read, with the aliases that read it; these, or one of the words, are enough.
func TestStoredFlagsNeedTheirWords(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "smoker", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}}, nil)
	for _, c := range []struct {
		column domain.Column
		csv    *pipeline.CSV
		want   string
	}{
		{domain.Column{Type: domain.Categorical, Categories: []string{"no", "yes"}}, nil,
			`aliases, such as {"no": ["false"], "yes": ["true"]}`},
		{domain.Column{Type: domain.Boolean, Categories: []string{"N", "Y"}}, nil,
			"is stored as bool, whose values are false and true"},
		{domain.Column{Type: domain.Categorical, Categories: []string{"no", "yes"},
			Aliases: domain.Aliases{"no": {"false"}, "yes": {"true"}}}, nil, ""},
		{domain.Column{Type: domain.Categorical, Categories: []string{"false", "true"}}, nil, ""},
		{domain.Column{Type: domain.Boolean, Categories: []string{"0", "1"}}, nil, ""},
		{domain.Column{Type: domain.Categorical, Categories: []string{"no", "yes"}, Nullable: true},
			&pipeline.CSV{Unknown: "missing"}, ""},
	} {
		c.column.Name = "smoker"
		_, _, err := OpenStored(Stored{Name: "t", Schema: schema}, c.csv, &domain.Domain{Columns: []domain.Column{c.column}},
			"")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, must say %q", c.column.Categories, err, c.want)
		}
	}
}

// TestNamesInOtherCapitals: stored columns have no line of names, so what is asked is whether names are spelled
// otherwise, as PostgreSQL makes small letters of capitals.
func TestNamesInOtherCapitals(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "age", Type: arrow.PrimitiveTypes.Int64},
		{Name: "sex", Type: arrow.PrimitiveTypes.Int64}}, nil)
	d := &domain.Domain{Columns: []domain.Column{{Name: "AGE", Type: domain.Integer}, {Name: "SEX", Type: domain.Integer}}}
	_, _, err := OpenStored(Stored{Name: "acs.persons", Schema: schema}, nil, d, "")
	if err == nil || !strings.Contains(err.Error(), "names 0 of the 2 declared columns") ||
		!strings.Contains(err.Error(), "capitals are told apart") || strings.Contains(err.Error(), "header") {
		t.Errorf("%v: must ask for capitals and of no header", err)
	}
}

// textColumns returns a date, a number, a whole number and a flag stored as text.
func textColumns(t *testing.T, kind arrow.DataType, rows ...[4]string) arrow.Record {
	t.Helper()
	var fields []arrow.Field
	for _, name := range []string{"day", "x", "n", "yes"} {
		fields = append(fields, arrow.Field{Name: name, Type: kind, Nullable: true})
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
	return &domain.Domain{Columns: []domain.Column{{Name: "day", Type: domain.Date, Nullable: true},
		{Name: "x", Type: domain.Numeric, Missing: domain.Spellings{"NA"}, Nullable: true},
		{Name: "n", Type: domain.Integer, Nullable: true}, {Name: "yes", Type: domain.Boolean, Nullable: true}}}
}

// TestTextIsReadAsInCSV: 2025-01-31 is day 20119 since 1970-01-01 (55 years of 365 days,
// 14 leap days, 30 of January).
func TestTextIsReadAsInCSV(t *testing.T) {
	for kind, of := range textTypes() {
		record := textColumns(t, of, [4]string{"2025-01-31", "2.50", "4.0", "true"}, [4]string{"-", "NA", "-", "0"},
			[4]string{"1970-01-01", "-1e2", "7", "-"})
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
		record := textColumns(t, of, [4]string{"31.01.7771", "7771x", "7771.5", "yes7771"},
			[4]string{"7771-02-30", "inf", "7,771", "2"})
		for name, data := range forms(t, record) {
			table, err := Open(fstest.MapFS{name: {Data: data}}, name, nil, textDomain())
			if err != nil {
				t.Fatal(err)
			}
			_, err = table.Collect(t.Context())
			for _, want := range []string{`row 1: column "day": ` + ruleDate + " (and 1 more", `row 1: column "x": ` +
				ruleNumber, `row 2: column "x": ` + ruleFinite,
				`row 1: column "n": ` + ruleWhole, `row 2: column "n": ` + ruleComma, `row 1: column "yes": ` + ruleCategory} {
				if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "777") ||
					strings.Contains(err.Error(), "7,771") {
					t.Errorf("%s of %s: %v, must say %s", name, kind, err, want)
				}
			}
		}
	}
}

// everyType returns a domain with a column of each type, and a file of it in weir's own spelling.
func everyType() (*domain.Domain, string) {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "n", Type: domain.Numeric, Nullable: true, Missing: []string{"NA"}}, {Name: "i", Type: domain.Integer,
			Nullable: true},
		{Name: "d", Type: domain.Date, Format: "DD.MM.YYYY", Nullable: true}, {Name: "m", Type: domain.Datetime, Step: 1},
		{Name: "z", Type: domain.Datetime, Zone: "UTC", Step: 60, Nullable: true}, {Name: "t", Type: domain.Time, Step: 60},
		{Name: "c", Type: domain.Categorical, Categories: []string{"O'Hara", "a;b"}, Nullable: true},
		{Name: "b", Type: domain.Boolean, Categories: []string{"0", "1"}, Nullable: true}, {Name: "w", Type: domain.Boolean,
			Categories: []string{"no", "yes"}},
		{Name: "x", Type: domain.Text, Nullable: true},
	}}
	d.Complete()
	return d, "n,i,d,m,z,t,c,b,w,x\n" +
		"1.5,9007199254740993,29.02.2020,2019-04-30T08:00:01,2019-04-30T08:00Z,23:59,O'Hara,0,no,é\n" +
		"NA,,,1969-12-31T23:59:59,,00:00,,,yes,\n" +
		"-0.1,-7,01.01.1900,9999-12-31T00:00:00,1900-01-01T00:00Z,08:30,a;b,1,yes,\"a, \"\"b\"\"\"\n"
}

// heldRows is a reading of records.
type heldRows struct{ left []arrow.Record }

// Next implements StoredRows.
func (r *heldRows) Next() (arrow.Record, error) {
	if len(r.left) == 0 {
		return nil, io.EOF
	}
	next := r.left[0]
	r.left = r.left[1:]
	return next, nil
}

// Close implements StoredRows.
func (*heldRows) Close() {}

// TestTypedIsReadBack: what a database is given is, read back by the same domain, the table that it was made of.
func TestTypedIsReadBack(t *testing.T) {
	d, text := everyType()
	in, err := Open(fstest.MapFS{"f.csv": {Data: []byte(text)}}, "f.csv", nil, d)
	if err != nil {
		t.Fatal(err)
	}
	schema, rows, err := Typed(in)
	if err != nil {
		t.Fatal(err)
	}
	var records []arrow.Record
	for r, err := range rows(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if !r.Schema().Equal(schema) {
			t.Errorf("a record of %s, must be %s", r.Schema(), schema)
		}
		records = append(records, r)
	}
	kinds := []arrow.Type{arrow.FLOAT64, arrow.INT64, arrow.DATE32, arrow.TIMESTAMP, arrow.TIMESTAMP, arrow.TIME64,
		arrow.STRING, arrow.BOOL, arrow.STRING, arrow.STRING}
	for i, f := range schema.Fields() {
		if f.Type.ID() != kinds[i] || f.Nullable != d.Columns[i].Nullable {
			t.Errorf("column %s is %s, nullable %v", f.Name, f.Type, f.Nullable)
		}
	}
	again, _, err := OpenStored(Stored{Name: "again", Schema: schema,
		Begin: func(context.Context, []int) (StoredRows, error) { return &heldRows{slices.Clone(records)}, nil }}, nil, d, "")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := WriteText(t.Context(), &out, again, Style{}); err != nil || out.String() != text {
		t.Errorf("read back as\n%s(%v), must be\n%s", out.String(), err, text)
	}
}

// TestTypedRefuses: an encoded column, and values that the domain does not cover, quoting none.
func TestTypedRefuses(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{{Name: "c", Type: domain.Categorical, Categories: []string{"a"}},
		{Name: "t", Type: domain.Time, Step: 1}}}
	h := pipeline.TableHeader(d, pipeline.Header{})
	for _, cells := range [][2]int64{{7, 0}, {0, 777777}} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, h.Schema)
		b.Field(0).(*array.Int32Builder).Append(int32(cells[0]))
		b.Field(1).(*array.Int64Builder).Append(cells[1])
		_, rows, err := Typed(pipeline.FromRecords(h, b.NewRecord()))
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range rows(t.Context()) {
			if err == nil || !strings.HasPrefix(err.Error(), "column ") || strings.Contains(err.Error(), "7") {
				t.Errorf("%v: %v, must be an error that quotes nothing", cells, err)
			}
		}
	}
	h.Domain.Columns[0].Encoding = &domain.Encoding{Form: domain.OneHot, Width: 1}
	if _, _, err := Typed(pipeline.Table{Header: h}); err == nil ||
		!strings.Contains(err.Error(), `column "c": is encoded`) {
		t.Errorf("an encoded column: %v", err)
	}
}
