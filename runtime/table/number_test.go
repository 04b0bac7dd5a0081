package table

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// german returns a table as a German desktop exports it.
func german() (*domain.Domain, string) {
	return &domain.Domain{Columns: []domain.Column{
			{Name: "betrag", Type: domain.Numeric, Format: "1.234,5 €", Missing: []string{"k. A.", "99"},
				Bounds: &[2]float64{-1e6, 90}, Nullable: true},
			{Name: "anteil", Type: domain.Numeric, Format: "1,5 %", Step: 0.1, Nullable: true},
			{Name: "anzahl", Type: domain.Integer, Format: "1.234"},
			{Name: "geboren", Type: domain.Date, Format: "DD.MM.YYYY", Nullable: true},
		}}, "betrag;anteil;anzahl;geboren\n-1.234.567,5 €;12,5 %;1.000;31.01.2020\nk. A.;-0,1 %;7;01.12.1899\n0,25 " +
			"€;;-12.345;\n"
}

// TestFormsAreWrittenAsTheyCame: a file that is read by the formats of its domain is written as the same bytes.
func TestFormsAreWrittenAsTheyCame(t *testing.T) {
	d, text := german()
	csv := &pipeline.CSV{Delimiter: ";"}
	got, err := rewritten(text, csv, d)
	if err != nil || got != text {
		t.Errorf("written as\n%s\n(%v), must be\n%s", got, err, text)
	}
	loose := strings.NewReplacer("-1.234.567,5 €", "-1234567,5", "12,5 %", "12,5", "k. A.", "99,0").Replace(text)
	if got, err := rewritten(loose, csv, d); err != nil || got != text {
		t.Errorf("of cells without units and groups:\n%s\n(%v), must be\n%s", got, err, text)
	}
}

func rewritten(text string, csv *pipeline.CSV, d *domain.Domain) (string, error) {
	table, err := Open(fstest.MapFS{"f.csv": {Data: []byte(text)}}, "f.csv", csv, d)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = textFormat{}.Write(context.Background(), &out, "f.csv", table, Style{CSV: csv})
	return out.String(), err
}

// TestCellsOfAnotherFormAreRefused by place, and never quoted.
func TestCellsOfAnotherFormAreRefused(t *testing.T) {
	d, text := german()
	for name, c := range map[string]struct{ old, new, want string }{
		"a point for a comma": {"12,5 %", "7771.5", `line 2: column "anteil": is not a number in the column's format`},
		"half a group":        {"1.000", "7.77", `line 2: column "anzahl": is not a number in the column's format`},
		"another currency":    {"0,25 €", "777 $", `line 4: column "betrag": is not a number in the column's format`},
		"decimals of a count": {"-12.345", "777,5", `line 4: column "anzahl": is not a number in the column's format`},
		"an ISO date": {"31.01.2020", "2020-01-31",
			`line 2: column "geboren": is not a date in the column's format`},
		"month before the day": {"31.01.2020", "01.31.2020",
			`line 2: column "geboren": is not a date in the column's format`},
	} {
		_, err := rewritten(strings.Replace(text, c.old, c.new, 1), &pipeline.CSV{Delimiter: ";"}, d)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), c.new) {
			t.Errorf("%s: %v, must hold %q and not %q", name, err, c.want, c.new)
		}
	}
}

// TestAliasesAreRead: a cell is the category whose alias it has, also where a boolean would be read otherwise, and is
// written as that category.
func TestAliasesAreRead(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "a", Type: domain.Categorical, Categories: []string{"no", "yes"},
			Aliases: domain.Aliases{"yes": {"Yes", "y"}}},
		{Name: "b", Type: domain.Boolean, Categories: []string{"0", "1"}, Aliases: domain.Aliases{"0": {"true"}, "1": {"2"}}},
	}}
	got, err := rewritten("a,b\nYes,true\ny,True\nno,2\nyes,1.0\n", nil, d)
	if want := "a,b\nyes,0\nyes,1\nno,1\nyes,1\n"; err != nil || got != want {
		t.Errorf("read as\n%s\n(%v), must be\n%s", got, err, want)
	}
	if _, err := rewritten("a,b\nYES,1\n", nil, d); err == nil ||
		!strings.Contains(err.Error(), `line 2: column "a": is outside the declared categories`) {
		t.Errorf("a spelling that is no alias: %v", err)
	}
}

// TestExactNumbers: two spellings are one number exactly if they are to package big, and
// parseInt reads those that are whole and of 64 bits.
func TestExactNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	digits := func(most int) string {
		var b strings.Builder
		for range rng.IntN(most + 1) {
			b.WriteByte("0001239"[rng.IntN(7)])
		}
		return b.String()
	}
	near := []string{"9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808",
		"-9223372036854775808", "-9223372036854775809"}
	seen := map[string]exact{}
	for range 20_000 {
		v := []string{"", "-", "+"}[rng.IntN(3)] + "1" + digits(3)
		if rng.IntN(3) == 0 {
			v = near[rng.IntN(len(near))]
		}
		if rng.IntN(2) == 0 {
			v += "." + digits(3)
		}
		if rng.IntN(2) == 0 {
			v += fmt.Sprint("e", rng.IntN(9)-4)
		}
		want, ok := new(big.Rat).SetString(v)
		got, read := exactNumber([]byte(v))
		if !ok || !read {
			t.Fatalf("%s: read %t, package big reads it: %t", v, read, ok)
		}
		if before, is := seen[want.String()]; is && before != got {
			t.Fatalf("%s is %+v and was %+v", v, got, before)
		}
		seen[want.String()] = got
		n, whole := parseInt([]byte(v))
		if fits := want.IsInt() && want.Num().IsInt64(); whole != fits || fits && n != want.Num().Int64() {
			t.Fatalf("%s: parseInt reads %d, %t, must be %s", v, n, whole, want)
		}
	}
	keys := map[exact]string{}
	for text, n := range seen {
		if other, is := keys[n]; is {
			t.Fatalf("%s and %s are both %+v", text, other, n)
		}
		keys[n] = text
	}
	for _, v := range []string{"", "-", "+-1", ".", "e5", "1e", "1e5.0", "0x10", "1_000", "inf", "NaN", "1,5",
		"1e99999999999"} {
		if n, ok := exactNumber([]byte(v)); ok {
			t.Errorf("%q is read as %+v", v, n)
		}
	}
}

// TestWideIntegersAreNotMissing: what a float64 rounds is a problem of the file, whatever
// stands for missing.
func TestWideIntegersAreNotMissing(t *testing.T) {
	for _, name := range []string{"", "NaN"} {
		d := &domain.Domain{Columns: []domain.Column{{Name: "x", Type: domain.Numeric, Nullable: true,
			Missing: []string{name}}}}
		c := newConverter(d, &dialect{}, layout{0})
		b := array.NewInt64Builder(memory.DefaultAllocator)
		b.AppendValues([]int64{1 << 53, -1 << 53, 1<<53 + 1}, nil)
		p := &problems{}
		r := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int64}}, nil),
			[]arrow.Array{b.NewArray()}, 3)
		if c.record(r, 1, p); len(p.list) != 1 || p.list[0].Line != 3 || p.list[0].Rule != ruleWide {
			t.Errorf("with %q for missing the problems are %v, must be that of row 3: %s", name, p.list, ruleWide)
		}
	}
}

// TestMeaningOfCells: what databases are told of a column is what the readers of this package do with its cells: a
// category comes before a missing spelling, by any spelling of its number; the words of flags are the words of a
// boolean.
func TestMeaningOfCells(t *testing.T) {
	csv := &pipeline.CSV{Missing: domain.Spellings{"NA", "01", "99.0"}, Unknown: "missing"}
	for _, c := range []struct {
		column domain.Column
		want   Meaning
		whole  map[int64]int32
		reals  map[float64]int32
	}{
		{domain.Column{Type: domain.Ordinal, Categories: []string{"1", "2.5"}, Aliases: domain.Aliases{"2.5": {"x"}},
			Nullable: true},
			Meaning{Codes: map[string]int32{"1": 0, "2.5": 1, "x": 1, "01": 0}, Numbered: true, Missing: []string{"NA", "99.0"},
				Numbers: []float64{1, 99}, Whole: []int64{1, 99}, MayMiss: true, UnknownMiss: true},
			map[int64]int32{1: 0}, map[float64]int32{1: 0, 2.5: 1}},
		{domain.Column{Type: domain.Boolean, Categories: []string{"0", "1"}, Missing: domain.Spellings{"NA"}},
			Meaning{Codes: map[string]int32{"0": 0, "1": 1, "false": 0, "False": 0, "FALSE": 0, "true": 1, "True": 1, "TRUE": 1,
				"01": 1},
				Numbered: true, Missing: []string{"NA", "99.0"}, Numbers: []float64{1, 99}, Whole: []int64{1, 99}, MayMiss: true,
				UnknownMiss: true},
			map[int64]int32{0: 0, 1: 1}, map[float64]int32{0: 0, 1: 1}},
		{domain.Column{Type: domain.Integer, Missing: domain.Spellings{"-9,0 %"}, Format: "1,5 %"},
			Meaning{Missing: []string{"-9,0 %", "NA", "01", "99.0"}, Numbers: []float64{-9, 1}, Whole: []int64{-9, 1},
				MayMiss: true, UnknownMiss: true, Formed: true},
			map[int64]int32{}, map[float64]int32{}},
	} {
		got, err := MeaningOf(&c.column, csv)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: %+v, %v; must be %+v", c.column, got, err, c.want)
		}
		if !reflect.DeepEqual(got.CodesOfWhole(), c.whole) || !reflect.DeepEqual(got.CodesOfNumber(), c.reals) {
			t.Errorf("%+v: codes of numbers %v, %v; must be %v, %v", c.column, got.CodesOfWhole(), got.CodesOfNumber(), c.whole,
				c.reals)
		}
	}
}
