package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/jackc/pgx/v5/pgconn"
)

// writer makes a role that can create tables in the schema.
func (s *server) writer(t *testing.T) string {
	t.Helper()
	role := s.schema + "_writer"
	s.exec(t, `CREATE ROLE `+role+` LOGIN`, `GRANT USAGE, CREATE ON SCHEMA @ TO `+role)
	t.Cleanup(func() { s.exec(t, `DROP OWNED BY `+role, `DROP ROLE `+role) })
	return role
}

// everyKind returns a table with a column of each kind that is written.
func everyKind() *arrow.Schema {
	var fields []arrow.Field
	for _, k := range []kind{whole, double, flag, text, day, moment, momentZoned, clock} {
		fields = append(fields, arrow.Field{Name: `a "` + k.storedAs() + `"; --`, Type: k.arrow(), Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}

// rowsOf yields a record of each kind's extremes, one of missing cells, and last of all an error where there is one.
func rowsOf(schema *arrow.Schema, word string, last error) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		b.Field(0).(*array.Int64Builder).AppendValues([]int64{math.MinInt64, math.MaxInt64}, nil)
		b.Field(1).(*array.Float64Builder).AppendValues([]float64{5e-324, -math.MaxFloat64}, nil)
		b.Field(2).(*array.BooleanBuilder).AppendValues([]bool{false, true}, nil)
		b.Field(3).(*array.StringBuilder).AppendValues([]string{word, ""}, nil)
		b.Field(4).(*array.Date32Builder).AppendValues([]arrow.Date32{-719162, 2932896}, nil) // 0001-01-01 and 9999-12-31
		for _, i := range []int{5, 6} {
			b.Field(i).(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{-1, 253402300799000000}, nil)
		}
		b.Field(7).(*array.Time64Builder).AppendValues([]arrow.Time64{0, 86399000000}, nil)
		for i := range schema.Fields() {
			b.Field(i).AppendNull()
		}
		if yield(b.NewRecord(), nil) && last != nil {
			yield(nil, last)
		}
	}
}

// written returns what the server has, as text; "" where there is no table.
func (s *server) written(t *testing.T, table string) string {
	t.Helper()
	result, err := s.Exec(context.Background(), `SET TimeZone = UTC; SELECT string_agg(x::text, E'\n') FROM `+s.schema+`.`+
		table+` x`).ReadAll()
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "42P01" {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(result[1].Rows[0][0])
}

// TestPostgresWritesEveryKind: what the server says of the cells is what they were. Expected: the values of rowsOf as
// PostgreSQL spells them (manual, section 8: extremes of int8 and float8, dates in ISO 8601).
func TestPostgresWritesEveryKind(t *testing.T) {
	s := newServer(t)
	place := s.placeAs(s.writer(t), "out")
	made, err := Write(t.Context(), place, everyKind(), rowsOf(everyKind(), `O'Hara, "é"`, nil), "weir run 1")
	if err != nil || !made {
		t.Fatal(made, err)
	}
	want := `(-9223372036854775808,5e-324,f,"O'Hara, ""é""",0001-01-01,"1969-12-31 23:59:59.999999","1969-12-31 23:59:59.999999+00",00:00:00)
(9223372036854775807,-1.7976931348623157e+308,t,"",9999-12-31,"9999-12-31 23:59:59","9999-12-31 23:59:59+00",23:59:59)
(,,,,,,,)`
	if got := s.written(t, "out"); got != want {
		t.Errorf("the server has\n%s\nmust have\n%s", got, want)
	}
}

// TestPostgresWritesOnce: a table of the same run and rows is found written; one of other rows, of another run or of
// somebody else is left as it is.
func TestPostgresWritesOnce(t *testing.T) {
	s := newServer(t)
	place := s.placeAs(s.writer(t), "out")
	for i, c := range []struct {
		word, mark string
		made       bool
		want       error
	}{
		{"a", "weir run 1", true, nil}, {"a", "weir run 1", false, nil},
		{"b", "weir run 1", false, ErrExists}, {"a", "weir run 2", false, ErrExists}, {"a", "weir run", false, ErrExists},
	} {
		made, err := Write(t.Context(), place, everyKind(), rowsOf(everyKind(), c.word, nil), c.mark)
		if made != c.made || !errors.Is(err, c.want) {
			t.Errorf("%d: made %v, %v; must be %v, %v", i, made, err, c.made, c.want)
		}
	}
	if got := s.written(t, "out"); !strings.Contains(got, ",a,") {
		t.Errorf("the table was replaced: %s", got)
	}
	s.exec(t, `CREATE TABLE @.theirs (x int)`, `CREATE VIEW @.view AS SELECT 1 AS x`)
	for _, name := range []string{"theirs", "view"} {
		if _, err := Write(t.Context(), s.placeAs(s.schema+"_writer", name), everyKind(), rowsOf(everyKind(), "a", nil),
			"weir run 1"); !errors.Is(err, ErrExists) {
			t.Errorf("%s: %v, must be refused", name, err)
		}
	}
}

// TestPostgresWritesWholeTables: rows that end in an error, a cancelled context, a backend that is killed and a cell
// that the server refuses leave no table, and no error quotes the cell.
func TestPostgresWritesWholeTables(t *testing.T) {
	s := newServer(t)
	place := s.placeAs(s.writer(t), "out")
	broken := errors.New("broken")
	many := func(next func()) iter.Seq2[arrow.Record, error] {
		return func(yield func(arrow.Record, error) bool) {
			for i := range 3000 {
				if i == 1500 {
					next()
				}
				for r, err := range rowsOf(everyKind(), strings.Repeat("x", 2000), nil) {
					if !yield(r, err) {
						return
					}
				}
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	kill := fmt.Sprintf("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '%s_writer'", s.schema)
	for name, c := range map[string]struct {
		ctx  context.Context
		rows iter.Seq2[arrow.Record, error]
		want string
	}{
		"rows that end early": {t.Context(), rowsOf(everyKind(), "a", broken), "broken"},
		"a cancelled context": {ctx, many(cancel), "context canceled"},
		"a killed backend": {t.Context(), many(func() { s.exec(t, kill) }),
			"57P01|the connection to the database was lost"},
		"a byte 0 in a text": {t.Context(), rowsOf(everyKind(), "Canary\x00", nil), "22021"},
	} {
		made, err := Write(c.ctx, place, everyKind(), c.rows, "weir run 1")
		if err == nil || !containsOne(err.Error(), c.want) || strings.Contains(err.Error(), "Canary") {
			t.Errorf("%s: made %v, %v; must be an error with %s", name, made, err, c.want)
		}
		if got := s.written(t, "out"); got != "" {
			t.Errorf("%s: leaves a table", name)
		}
	}
}

// containsOne reports whether a text has one of some words, which | separates.
func containsOne(text, words string) bool {
	for _, word := range strings.Split(words, "|") {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// TestPostgresLooksBeforeItWrites: what would fail at the end is refused at the beginning.
func TestPostgresLooksBeforeItWrites(t *testing.T) {
	s := newServer(t)
	writer := s.writer(t)
	for _, c := range []struct {
		place Place
		names []string
		want  string
	}{
		{s.placeAs(s.role, "out"), nil, "cannot create a table in the schema"},
		{s.placeAs("weir", "out"), nil, "is a superuser"},
		{Place{Connection: "env:X", Table: "nowhere.out", Env: s.placeAs(writer, "").Env}, nil,
			"nowhere is not in the database"},
		{s.placeAs(writer, strings.Repeat("a", 64)), nil, "has 64 bytes, must have 1 to 63"},
		{s.placeAs(writer, "out"), []string{"é" + strings.Repeat("a", 62)}, "has 64 bytes"},
		{s.placeAs(writer, "out"), []string{"a\x00b"}, "none of them 0"},
	} {
		if _, err := Look(t.Context(), c.place, c.names); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, must say %q", c.place.Table, err, c.want)
		}
	}
	there, err := Look(t.Context(), s.placeAs(writer, "out"), []string{`a "b"; --`})
	if err != nil || there.Exists || there.Role != writer || there.Server == "" {
		t.Errorf("%+v, %v", there, err)
	}
	if _, err := newWriting(s.placeAs(writer, "out"),
		arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float32}}, nil), ""); err == nil {
		t.Error("a type that is not written is taken")
	}
}
