package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/xuri/excelize/v2"
)

// excelFormat reads a sheet of a workbook of Excel 2007 or later. Cells are text to the reader, as in CSV: numbers
// as they are stored, dates and times as ISO 8601, a formula as the value that was last computed.
type excelFormat struct{}

// Workbooks begin with these bytes: a ZIP archive, and the older form, in which those with a password lie too.
const (
	zipMark   = "PK\x03\x04"
	oldOffice = "\xd0\xcf\x11\xe0"
)

// Bounds of a workbook, which the library holds in memory as a whole.
const (
	mostUnzipped = 512 << 20 // bytes; nothing is unzipped into files, where private rows would stay
	mostSheet    = 4 << 20   // cells, those that rows skip too
)

// Name implements Format.
func (excelFormat) Name() string { return "xlsx" }

// Begins implements Format.
func (excelFormat) Begins(head []byte) bool { return begins(head, zipMark, oldOffice) }

func (f excelFormat) open(in *input) (rowReader, error) { return openRecords(in, (&lender{}).records) }

func (f excelFormat) raw(_ context.Context, in *input) (*Raw, error) {
	return rawRecords(in, (&lender{}).records)
}

// lender keeps the sheet by which a file was checked for the first reading: to open one takes longer than to read it.
type lender struct {
	mu    sync.Mutex
	begun bool
	sheet *sheet
}

// records opens a sheet, or returns the one that is kept, whose rows nobody has read.
func (l *lender) records(in *input, match matcher) (recordSource, *arrow.Schema, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.sheet; s != nil {
		l.sheet = nil
		return s, s.schema, nil
	}
	s, schema, err := excelFormat{}.records(in, match)
	if err != nil || l.begun {
		return s, schema, err
	}
	l.begun = true
	return lent{s.(*sheet), l}, schema, nil
}

// lent is a sheet that is kept where it is closed.
type lent struct {
	*sheet
	by *lender
}

func (l lent) close() {
	l.by.mu.Lock()
	defer l.by.mu.Unlock()
	l.by.sheet = l.sheet
}

// records opens a sheet at its first row of values.
func (excelFormat) records(in *input, match matcher) (recordSource, *arrow.Schema, error) {
	s, err := openSheet(in)
	if err != nil {
		return nil, nil, err
	}
	if s.layout, err = match(s.schema); err != nil {
		s.close()
		return nil, nil, err
	}
	return s, s.schema, nil
}

// sheet is an opened sheet whose rows are read.
type sheet struct {
	book     *excelize.File
	file     string
	name     string
	within   area
	rows     *excelize.Rows
	row      int // of the sheet, that was read last
	schema   *arrow.Schema
	layout   layout
	batch    int
	from1904 bool
	kinds    map[int]dateKind // by style
}

// area is the part of a sheet that holds the table: columns and rows from 1, both ends included.
type area struct{ left, top, right, bottom int }

// openSheet reads the names of a table.
func openSheet(in *input) (*sheet, error) {
	book, err := openBook(in)
	if err != nil {
		return nil, err
	}
	s := &sheet{book: book, file: in.name, batch: in.BatchRows, kinds: map[int]dateKind{}}
	if err := s.begin(in); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func openBook(in *input) (book *excelize.File, err error) {
	stream, err := openStream(in.fsys, in.name)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	if begins(stream.head, oldOffice) {
		return nil, wrong(in.name, "is a workbook of Excel 97 to 2003, or has a password; accepted: .xlsx without a password")
	}
	broken := guarded(func() error {
		book, err = excelize.OpenReader(stream, excelize.Options{RawCellValue: true, UnzipSizeLimit: mostUnzipped,
			UnzipXMLSizeLimit: mostUnzipped})
		return nil
	})
	if broken != nil || err != nil {
		return nil, wrong(in.name, "is an archive of a kind that is not read, a damaged workbook, or larger than %d MiB "+
			"when unzipped; accepted: %s", mostUnzipped>>20, strings.Join(names(), ", "))
	}
	return book, nil
}

// begin finds the sheet and its area and reads the names.
func (s *sheet) begin(in *input) error {
	var err error
	if s.name, err = s.chosen(in); err != nil {
		return err
	}
	if s.within, err = readArea(in.name, in.dialect.area); err != nil {
		return err
	}
	if !in.looked {
		if err := s.look(in); err != nil {
			return err
		}
		in.looked = true
	}
	if props, err := s.book.GetWorkbookProps(); err == nil && props.Date1904 != nil {
		s.from1904 = *props.Date1904
	}
	if s.rows, err = s.book.Rows(s.name); err != nil {
		return s.damaged(in.name)
	}
	return s.header(in)
}

func (s *sheet) damaged(name string) error { return wrong(name, "is damaged: %v", errBroken) }

// chosen returns the sheet that is declared, or the only one. Names of others are told to who drafts a domain alone.
func (s *sheet) chosen(in *input) (string, error) {
	list := s.book.GetSheetList()
	want := in.dialect.sheet
	switch {
	case want == "" && len(list) == 1:
		return list[0], nil
	case slices.Contains(list, want):
		return want, nil
	}
	found, which := fmt.Sprintf("has %d sheets, none of them named %q", len(list), want), ""
	if want == "" {
		found = fmt.Sprintf("has %d sheets", len(list))
	}
	if in.domain == nil {
		which = ": " + strings.Join(list, ", ")
	}
	return "", wrong(in.name, "%s; accepted: the name of one, csv.sheet in a spec, --sheet of weir domain infer, weir "+
		"init and weir evaluate%s", found, which)
}

// readArea reads a range such as B3:F40, or B3:F of all rows from the third on; "" is the whole sheet.
func readArea(file, text string) (area, error) {
	all := area{1, 1, excelize.MaxColumns, excelize.TotalRows}
	if text == "" {
		return all, nil
	}
	m := regexp.MustCompile(`^([A-Z]{1,3})([1-9]\d{0,6}):([A-Z]{1,3})([1-9]\d{0,6})?$`).FindStringSubmatch(text)
	if m != nil {
		left, err1 := excelize.ColumnNameToNumber(m[1])
		right, err2 := excelize.ColumnNameToNumber(m[3])
		top, _ := strconv.Atoi(m[2])
		bottom, err := strconv.Atoi(m[4])
		if err != nil {
			bottom = all.bottom
		}
		if err1 == nil && err2 == nil && left <= right && top <= bottom {
			return area{left, top, right, bottom}, nil
		}
	}
	return area{}, wrong(file, "csv.range is %q; accepted: the first and last cell of the table, such as B3:F40, or B3:F "+
		"for all rows from the third on", text)
}

// look refuses a sheet that the library cannot hold, as a few bytes can name its last cell, and tells of a row that
// Excel does not show.
func (s *sheet) look(in *input) error {
	rows, err := s.book.Rows(s.name)
	if err != nil {
		return s.damaged(in.name)
	}
	defer rows.Close()
	cells, hidden := 0, 0
	for n := 1; rows.Next(); n++ {
		unseen := rows.GetRowOpts().Hidden
		row, err := rows.Columns()
		if err != nil {
			return s.damaged(in.name)
		}
		if cells += len(row); cells > mostSheet {
			return wrong(in.name, "has a sheet of more than %d cells; accepted: smaller ones, or the sheet saved as CSV or "+
				"Parquet", mostSheet)
		}
		if unseen && hidden == 0 && len(row) > 0 && n >= s.within.top && n <= s.within.bottom {
			hidden = n
		}
	}
	if hidden > 0 && in.tell != nil {
		in.tell(fmt.Sprintf("%s: row %d of the sheet is hidden (by a filter, perhaps), and hidden rows are read as all "+
			"others are; where they are not rows of the table, delete them or copy what is shown into a sheet of its own",
			in.name, hidden))
	}
	return rows.Error()
}

// header reads the names, or counts the columns of a sheet without any.
func (s *sheet) header(in *input) error {
	first, err := s.nextRow()
	if err == io.EOF {
		return wrong(in.name, ruleEmpty)
	}
	if err != nil {
		return wrong(in.name, "is damaged: %v", err)
	}
	names := first
	if !in.dialect.header {
		names = make([]string, len(first))
		for i := range names {
			if names[i] = unnamed(i); in.domain != nil && i < len(in.domain.Columns) {
				names[i] = in.domain.Columns[i].Name
			}
		}
		if s.rows, err = s.book.Rows(s.name); err != nil {
			return s.damaged(in.name)
		}
		s.row = 0
	}
	fields := make([]arrow.Field, len(names))
	for i, name := range names {
		fields[i] = arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true}
	}
	s.schema = arrow.NewSchema(fields, nil)
	return nil
}

// nextRow spells the next row of the area that is not empty, as wide as the header.
func (s *sheet) nextRow() (cells []string, err error) {
	broken := guarded(func() error {
		for s.rows.Next() {
			raw, e := s.rows.Columns()
			if s.row++; e != nil {
				return e
			}
			if cells = s.cropped(raw); cells != nil {
				return s.fits(raw)
			}
		}
		if e := s.rows.Error(); e != nil {
			return e
		}
		return io.EOF
	})
	var told *Error
	if broken != nil && broken != io.EOF && !errors.As(broken, &told) {
		return nil, errBroken
	}
	return cells, broken
}

// fits refuses a row of the area with a value where the header has no name, as text files refuse a line of more values.
func (s *sheet) fits(raw []string) error {
	if s.schema == nil {
		return nil
	}
	names := s.schema.NumFields()
	for _, text := range raw[min(len(raw), s.within.left-1+names):min(len(raw), s.within.right)] {
		if text != "" {
			return wrong(s.file, "row %d of the sheet has a value in a column that the first row does not name; accepted: a "+
				"name above each column, or the table alone by csv.range of a spec, --range of weir domain infer and "+
				"weir init", s.row)
		}
	}
	return nil
}

// cropped spells the cells of a row that lie in the area; nil where all of them are empty.
func (s *sheet) cropped(raw []string) []string {
	if s.row < s.within.top || s.row > s.within.bottom || len(raw) < s.within.left {
		return nil
	}
	raw = raw[s.within.left-1 : min(len(raw), s.within.right)]
	width := len(raw)
	if s.schema != nil {
		width = s.schema.NumFields()
	}
	cells, some := make([]string, width), false
	for i, text := range raw[:min(width, len(raw))] {
		if text != "" {
			cells[i], some = s.spelled(text, s.within.left+i), true
		}
	}
	if !some && !slices.ContainsFunc(raw, func(text string) bool { return text != "" }) {
		return nil
	}
	return cells
}

// spelled returns a cell as text: TRUE and FALSE of booleans, ISO 8601 of numbers that are shown as dates or times.
func (s *sheet) spelled(raw string, column int) string {
	cell, err := excelize.CoordinatesToCellName(column, s.row)
	if err != nil {
		return raw
	}
	kind, err := s.book.GetCellType(s.name, cell)
	switch {
	case err != nil:
	case kind == excelize.CellTypeBool:
		return map[string]string{"0": "false", "FALSE": "false", "1": "true", "TRUE": "true"}[raw]
	case kind == excelize.CellTypeUnset || kind == excelize.CellTypeNumber:
		if x, err := strconv.ParseFloat(raw, 64); err == nil {
			return s.dated(raw, x, cell)
		}
	}
	return raw
}

func (s *sheet) dated(raw string, serial float64, at string) string {
	style, err := s.book.GetCellStyle(s.name, at)
	if err != nil {
		return raw
	}
	kind, known := s.kinds[style]
	if !known {
		kind = s.kindOf(style)
		s.kinds[style] = kind
	}
	return kind.spell(raw, serial, s.from1904)
}

func (s *sheet) kindOf(style int) dateKind {
	found, err := s.book.GetStyle(style)
	if err != nil || found == nil {
		return dateKind{}
	}
	if found.CustomNumFmt != nil {
		return readDateKind(*found.CustomNumFmt)
	}
	return builtinDateKind(found.NumFmt)
}

// dateKind says what a number format shows of a number: a date, a time, or neither.
type dateKind struct{ day, time bool }

// builtinDateKind returns the kind of the formats that have numbers (ECMA-376, part 1, 18.8.30).
func builtinDateKind(id int) dateKind {
	switch {
	case id >= 14 && id <= 17, id >= 27 && id <= 31, id == 36, id >= 50 && id <= 54, id == 57, id == 58:
		return dateKind{day: true}
	case id >= 18 && id <= 21, id >= 32 && id <= 35, id == 55, id == 56:
		return dateKind{time: true}
	case id == 22:
		return dateKind{day: true, time: true}
	}
	return dateKind{}
}

// readDateKind reads the first section of a format such as dd.mm.yyyy hh:mm. What stands in quotes, behind a backslash
// or in brackets means nothing here; hours in brackets are a length of time, which stays a number.
func readDateKind(format string) dateKind {
	if regexp.MustCompile(`(?i)\[[hms]+\]`).MatchString(format) {
		return dateKind{}
	}
	first, _, _ := strings.Cut(regexp.MustCompile(`"[^"]*"|\\.|\[[^\]]*\]|_.|\*.`).ReplaceAllString(format, ""), ";")
	first = strings.ToLower(first)
	if first == "general" {
		return dateKind{}
	}
	k := dateKind{day: strings.ContainsAny(first, "yd"), time: strings.ContainsAny(first, "hs")}
	k.day = k.day || !k.time && strings.Contains(first, "m")
	return k
}

// spell writes the serial number of a date or time: days since the end of 1899 (or 1904), whose fraction is the time.
func (k dateKind) spell(raw string, serial float64, from1904 bool) string {
	if !k.day && !(k.time && serial >= 0 && serial < 1) {
		return raw
	}
	t, err := excelize.ExcelDateToTime(serial, from1904)
	if err != nil {
		return raw
	}
	t = t.Round(time.Second)
	switch {
	case !k.day:
		return t.Format(time.TimeOnly)
	case k.time || serial != math.Trunc(serial):
		return t.Format("2006-01-02T15:04:05")
	}
	return t.Format(time.DateOnly)
}

func (s *sheet) columns() layout { return s.layout }

func (s *sheet) close() {
	if s.rows != nil {
		s.rows.Close()
	}
	s.book.Close()
}

// next makes a record of the next rows; an empty cell is missing.
func (s *sheet) next() (arrow.Record, error) {
	b := array.NewRecordBuilder(memory.NewGoAllocator(), s.schema)
	defer b.Release()
	most := max(1, min(s.batch, mostSheet/max(1, s.schema.NumFields())))
	for n := range most {
		cells, err := s.nextRow()
		if errors.Is(err, io.EOF) && n > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		for i, text := range cells {
			if column := b.Field(i).(*array.StringBuilder); text == "" {
				column.AppendNull()
			} else {
				column.Append(text)
			}
		}
	}
	return b.NewRecord(), nil
}
