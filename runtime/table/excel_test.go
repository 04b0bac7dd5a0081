package table

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/xuri/excelize/v2"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// lab returns testdata/excel: a workbook that XlsxWriter wrote, and the text of the table in its second sheet.
func lab(t testing.TB) (files fstest.MapFS, text string) {
	t.Helper()
	files = fstest.MapFS{}
	for _, name := range []string{"lab.xlsx", "rows.csv"} {
		data, err := os.ReadFile("testdata/excel/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	return files, string(files["rows.csv"].Data)
}

// labDomain declares the columns of the workbook.
func labDomain() *domain.Domain {
	return &domain.Domain{Columns: []domain.Column{
		{Name: "code", Type: domain.Text}, {Name: "day", Type: domain.Date},
		{Name: "at", Type: domain.Datetime, Step: 1}, {Name: "clock", Type: domain.Time, Step: 1},
		{Name: "share", Type: domain.Numeric}, {Name: "money", Type: domain.Numeric}, {Name: "flag", Type: domain.Boolean,
			Categories: []string{"false", "true"}},
		{Name: "sum", Type: domain.Numeric}, {Name: "note", Type: domain.Categorical, Categories: []string{"low", "high"},
			Nullable: true},
	}}
}

// excelBytes writes a table as the only sheet of a workbook, each cell as text.
func excelBytes(t pipeline.Table) ([]byte, error) {
	var text, out bytes.Buffer
	if err := WriteText(context.Background(), &text, t, Style{}); err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(&text).ReadAll()
	if err != nil {
		return nil, err
	}
	book := excelize.NewFile()
	for i, row := range rows {
		for j, cell := range row {
			at, _ := excelize.CoordinatesToCellName(j+1, i+1)
			if err := book.SetCellStr("Sheet1", at, cell); cell != "" && err != nil {
				return nil, err
			}
		}
	}
	err = book.Write(&out)
	return out.Bytes(), err
}

// TestWorkbookIsRead: every cell of a range of a sheet equals its cell in rows.csv, by domain and as infer sees it:
// codes with leading zeros, days, date-times and times in the formats of the workbook, numbers behind percent and
// currency, booleans, and values of formulas. Rows without a cell are passed over.
func TestWorkbookIsRead(t *testing.T) {
	files, text := lab(t)
	where := &pipeline.CSV{Sheet: "Lab", Range: "B3:J"}
	for _, batch := range []int{0, 7} {
		got, err := openWith(files, "lab.xlsx", where, labDomain(), options{BatchRows: batch})
		if err != nil {
			t.Fatal(err)
		}
		want, err := Open(files, "rows.csv", nil, labDomain())
		if err != nil {
			t.Fatal(err)
		}
		if a, b := strings.Join(cellsOf(t, got), "\n"), strings.Join(cellsOf(t, want), "\n"); a != b {
			t.Fatalf("batches of %d: read as\n%s\nmust be\n%s", batch, a, b)
		}
	}
	raw, err := OpenRaw(t.Context(), files, "lab.xlsx", where)
	if err != nil {
		t.Fatal(err)
	}
	spelled := strings.Join(raw.Names, ",") + "\n"
	for row, err := range raw.Rows {
		if err != nil {
			t.Fatal(err)
		}
		spelled += string(bytes.Join(row, []byte(","))) + "\n"
	}
	if spelled != text {
		t.Errorf("spelled as\n%s\nmust be\n%s", spelled, text)
	}
}

// TestWorkbooksAreRefused by what is wrong; a run names no sheet.
func TestWorkbooksAreRefused(t *testing.T) {
	files, _ := lab(t)
	files["old.xls"] = &fstest.MapFile{Data: []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and more")}
	files["cut.xlsx"] = &fstest.MapFile{Data: files["lab.xlsx"].Data[:4000]}
	var other bytes.Buffer
	z := zip.NewWriter(&other)
	z.Create("readme.txt")
	z.Close()
	files["other.zip"] = &fstest.MapFile{Data: other.Bytes()}
	for name, c := range map[string]struct {
		file string
		csv  pipeline.CSV
		want string
	}{
		"which sheet":   {"lab.xlsx", pipeline.CSV{}, "has 2 sheets; accepted: the name of one, csv.sheet in a spec"},
		"no such sheet": {"lab.xlsx", pipeline.CSV{Sheet: "Labor"}, `has 2 sheets, none of them named "Labor"`},
		"no range": {"lab.xlsx", pipeline.CSV{Sheet: "Lab", Range: "3B:J"},
			`csv.range is "3B:J"; accepted: the first and last cell`},
		"range backwards":  {"lab.xlsx", pipeline.CSV{Sheet: "Lab", Range: "J3:B9"}, "csv.range is"},
		"nothing in range": {"lab.xlsx", pipeline.CSV{Sheet: "Lab", Range: "Z90:ZZ99"}, "holds no rows"},
		"another table":    {"lab.xlsx", pipeline.CSV{Sheet: "Lab"}, "names 0 of the 9 declared columns"},
		"a column beside": {"lab.xlsx", pipeline.CSV{Sheet: "Lab", Range: "B3:I"},
			`column "note": is declared and not in the file`},
		"old":   {"old.xls", pipeline.CSV{}, "is a workbook of Excel 97 to 2003, or has a password"},
		"cut":   {"cut.xlsx", pipeline.CSV{}, "a damaged workbook"},
		"other": {"other.zip", pipeline.CSV{}, "is an archive of a kind that is not read"},
	} {
		_, err := Open(files, c.file, &c.csv, labDomain())
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "Notes") {
			t.Errorf("%s: %v, must hold %q", name, err, c.want)
		}
	}
	if _, err := OpenRaw(t.Context(), files, "lab.xlsx", nil); err == nil ||
		!strings.Contains(err.Error(), "--sheet of weir domain infer, weir init and weir evaluate: Notes, Lab") {
		t.Errorf("%v, must name the sheets to who drafts a domain", err)
	}
}

// TestValuesBesideTheHeaderAreRefused, as text files refuse a line of more values than names; the range leaves them
// out.
func TestValuesBesideTheHeaderAreRefused(t *testing.T) {
	book := excelize.NewFile()
	for at, x := range map[string]any{"A1": "x", "A2": 1, "A3": 2, "B3": 12345} {
		if err := book.SetCellValue("Sheet1", at, x); err != nil {
			t.Fatal(err)
		}
	}
	data, err := book.WriteToBuffer()
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"beside.xlsx": &fstest.MapFile{Data: data.Bytes()}}
	for area, want := range map[string]string{"": "row 3 of the sheet has a value in a column", "A1:A": "", "A1:B2": ""} {
		raw, err := OpenRaw(t.Context(), files, "beside.xlsx", &pipeline.CSV{Range: area})
		if err != nil {
			t.Fatal(err)
		}
		note := ""
		for _, err := range raw.Rows {
			if err != nil {
				note = err.Error()
			}
		}
		if !strings.Contains(note, want) || want == "" && note != "" || strings.Contains(note, "12345") {
			t.Errorf("range %q: %q, must hold %q", area, note, want)
		}
	}
}

// TestCellsOfWorkbooksAreNotQuoted: what a cell breaks is told by row and column.
func TestCellsOfWorkbooksAreNotQuoted(t *testing.T) {
	files, _ := lab(t)
	d := labDomain()
	d.Columns[0].Type = domain.Date
	table, err := Open(files, "lab.xlsx", &pipeline.CSV{Sheet: "Lab", Range: "B3:J40"}, d)
	if err != nil {
		t.Fatal(err)
	}
	for _, err = range table.Open(context.Background()) {
		if err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), `row 1: column "code": is not a date`) ||
		strings.Contains(err.Error(), "00000") {
		t.Errorf("%v", err)
	}
}

// TestDateFormats: formats as Excel's dialogs offer them, of days, of times, of both and of numbers.
func TestDateFormats(t *testing.T) {
	for format, want := range map[string]dateKind{
		"General": {}, "0.00": {}, `#,##0.00 "days"`: {}, "[h]:mm:ss": {}, `0.0\d`: {},
		"[Red]0.0;[Blue]-0.0": {}, "0.00E+00": {}, "@": {},
		"m/d/yyyy": {day: true}, `[$-407]d. mmmm yyyy;@`: {day: true}, "mmm-yy": {day: true}, "mmmm": {day: true},
		"h:mm AM/PM": {time: true}, "mm:ss.0": {time: true}, "hh:mm": {time: true}, "dd.mm.yyyy hh:mm": {day: true,
			time: true}, `yyyy-mm-dd"T"hh:mm:ss`: {day: true, time: true},
	} {
		if got := readDateKind(format); got != want {
			t.Errorf("%s is %+v, must be %+v", format, got, want)
		}
	}
	// 43861.586909722 is 2020-01-31 14:05:09, of day 43861 since 1899-12-30 (date -u: 18292 + 25569); by 1904 it is 1462
	// days later.
	for kind, want := range map[dateKind]string{{day: true}: "2020-01-31T14:05:09",
		{day: true, time: true}: "2020-01-31T14:05:09", {time: true}: "43861.586909722", {}: "43861.586909722"} {
		if got := kind.spell("43861.586909722", 43861.586909722, false); got != want {
			t.Errorf("%+v: %s, must be %s", kind, got, want)
		}
	}
	if got := (dateKind{day: true}).spell("43861", 43861-1462, true); got != "2020-01-31" {
		t.Errorf("by the calendar of 1904: %s", got)
	}
}

// FuzzExcel: no workbook panics.
func FuzzExcel(f *testing.F) {
	files, _ := lab(f)
	f.Add(files["lab.xlsx"].Data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if (excelFormat{}).Begins(data) && len(data) < 1<<16 {
			spelledOut(t, fstest.MapFS{"f": {Data: data}})
		}
	})
}

// TestHiddenRowsAreTold: the first hidden row of the table is told once, by its place, and all are read.
func TestHiddenRowsAreTold(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{{Name: "n", Type: domain.Integer}}}
	for _, c := range []struct {
		hidden []int
		area   string
		told   string
	}{{nil, "", ""}, {[]int{3, 4}, "", "row 3 of the sheet is hidden"}, {[]int{6, 9}, "", ""},
		{[]int{5}, "A1:A4", ""}, {[]int{4}, "A1:A4", "row 4 "}} {
		book := excelize.NewFile()
		for i, cell := range []any{"n", 1, 2, 3, 4} { // rows 1 to 5
			book.SetCellValue("Sheet1", "A"+strconv.Itoa(i+1), cell)
		}
		for _, row := range c.hidden {
			book.SetRowVisible("Sheet1", row, false)
		}
		var data bytes.Buffer
		if err := book.Write(&data); err != nil {
			t.Fatal(err)
		}
		files, csv := fstest.MapFS{"f": {Data: data.Bytes()}}, &pipeline.CSV{Range: c.area}
		for reading, read := range map[string]func(Parts) (int, error){
			"rows": func(p Parts) (n int, err error) {
				got, err := OpenParts(files, p, csv, d, "")
				if err != nil {
					return 0, err
				}
				return int(all(t, got).NumRows()), nil
			},
			"raw": func(p Parts) (n int, err error) {
				raw, err := OpenRawParts(t.Context(), files, p, csv)
				if err != nil {
					return 0, err
				}
				for _, failed := range raw.Rows {
					n, err = n+1, errors.Join(err, failed)
				}
				return n, err
			},
		} {
			var notes []string
			p := One("f")
			p.Tell = func(note string) { notes = append(notes, note) }
			n, err := read(p)
			want := 4
			if c.area != "" {
				want = 3
			}
			if err != nil || n != want || len(notes) > 1 || (len(notes) == 1) != (c.told != "") ||
				c.told != "" && !strings.Contains(notes[0], c.told) {
				t.Errorf("%s, hidden %v of %q: %d rows, %v, told %q; must be %d rows, %q", reading, c.hidden, c.area, n, err, notes,
					want, c.told)
			}
		}
	}
}

// counting counts how often files are opened.
type counting struct {
	fstest.MapFS
	opened *int
}

func (c counting) Open(name string) (fs.File, error) {
	*c.opened++
	return c.MapFS.Open(name)
}

// TestWorkbookIsOpenedOnce: the sheet by which a workbook was checked is the one that is read first; every reading sees
// all rows, two at a time too.
func TestWorkbookIsOpenedOnce(t *testing.T) {
	files, _ := lab(t)
	n := 0
	counted := counting{files, &n}
	csv := &pipeline.CSV{Sheet: "Lab", Range: "B3:J"}
	got, err := Open(counted, "lab.xlsx", csv, labDomain())
	if err != nil {
		t.Fatal(err)
	}
	checked := n
	var first string
	for rec, err := range got.Open(t.Context()) { // in the midst of which another one begins
		if err != nil {
			t.Fatal(err)
		}
		if n != checked {
			t.Errorf("the first reading opens the file %d times, must be 0", n-checked)
		}
		first = asCSV(t, got)
		if rows := int64(strings.Count(first, "\n") - 1); rows != rec.NumRows() {
			t.Errorf("%d rows, and %d in another reading", rec.NumRows(), rows)
		}
		break
	}
	if again := asCSV(t, got); again != first || n != checked+2 {
		t.Errorf("other rows in a later reading, or %d openings, must be 2", n-checked)
	}
	n = 0
	raw, err := OpenRaw(t.Context(), counted, "lab.xlsx", csv)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		rows := 0
		for _, err := range raw.Rows {
			if rows++; err != nil {
				t.Fatal(err)
			}
		}
		if rows != strings.Count(first, "\n")-1 {
			t.Errorf("drafts see %d rows", rows)
		}
	}
	if n != 3 {
		t.Errorf("drafts open the file %d times, must be 3: for its form, its first reading and the second", n)
	}
}
