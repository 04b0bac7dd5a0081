package table

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// missing knows the spellings of a missing cell.
type missing struct {
	spelled [][]byte
	numbers []float64 // those that are numbers: 99 is also 99.0
	whole   []int64   // those that are whole numbers, exactly
}

func newMissing(c *domain.Column, d *dialect) missing {
	var m missing
	form := newForm(c)
	for _, list := range [][]string{c.Missing, d.missing} {
		for _, s := range list {
			m.spelled = append(m.spelled, []byte(s))
			number, ok := form.number([]byte(s))
			if !ok {
				continue
			}
			if x, ok := parseFloat(number); ok {
				m.numbers = append(m.numbers, x)
			}
			if n, ok := parseInt(number); ok {
				m.whole = append(m.whole, n)
			}
		}
	}
	return m
}

// has reports whether v spells a missing cell; the empty one always does.
func (m *missing) has(v []byte) bool {
	for _, s := range m.spelled {
		if bytes.Equal(v, s) {
			return true
		}
	}
	return len(v) == 0
}

func (m *missing) hasNumber(x float64) bool {
	return slices.Contains(m.numbers, x)
}

func (m *missing) hasWhole(n int64) bool { return slices.Contains(m.whole, n) }

// lookup finds the code of a category by its spelling. Where every category is
// a plainly written number, other spellings of it are taken too (pandas writes
// 1 as 1.0 once a column has gaps); a boolean declared as 0 and 1 also takes
// true and false. An alias means what it is declared to, whatever it is otherwise.
type lookup struct {
	short   [256]int32 // code+1 of one-byte spellings
	spelled map[string]int32
	numbers map[exact]int32
}

func newLookup(c *domain.Column) lookup {
	list := c.Categories
	if c.Type == domain.Boolean && len(list) == 0 {
		list = domain.Categories{"0", "1"}
	}
	l := lookup{spelled: map[string]int32{}, numbers: map[exact]int32{}}
	plain := true
	for i, s := range list {
		l.put(s, int32(i))
		x, ok := parseFloat([]byte(s))
		plain = plain && ok && strconv.FormatFloat(x, 'f', -1, 64) == s
		n, _ := exactNumber([]byte(s))
		l.numbers[n] = int32(i)
	}
	if !plain {
		l.numbers = nil
	}
	if c.Type == domain.Boolean && list[0] == "0" && list[1] == "1" {
		for i, words := range [][]string{{"false", "False", "FALSE"}, {"true", "True", "TRUE"}} {
			for _, w := range words {
				l.put(w, int32(i))
			}
		}
	}
	for category, spellings := range c.Aliases {
		for _, s := range spellings {
			l.put(s, int32(slices.Index(list, category)))
		}
	}
	return l
}

func (l *lookup) put(s string, code int32) {
	if len(s) == 1 {
		l.short[s[0]] = code + 1
	}
	l.spelled[s] = code
}

func (l *lookup) find(v []byte) (int32, bool) {
	if len(v) == 1 {
		if code := l.short[v[0]]; code > 0 {
			return code - 1, true
		}
	}
	if code, ok := l.spelled[string(v)]; ok {
		return code, true
	}
	if l.numbers == nil {
		return 0, false
	}
	n, ok := exactNumber(v)
	if !ok {
		return 0, false
	}
	code, ok := l.numbers[n]
	return code, ok
}

func numberRule(v []byte) string {
	switch {
	case notFinite(v):
		return ruleFinite
	case bytes.IndexByte(v, ',') >= 0:
		return ruleComma
	}
	return ruleNumber
}

// Meaning is what cells of a column mean, as plain data: for databases that read stored cells as this package would.
type Meaning struct {
	Codes       map[string]int32 // code of each spelling that is listed; nil of a column without categories
	Numbered    bool             // categories are numbers: a cell that spells one of them otherwise is that category too
	Missing     []string         // spellings of a missing cell, beside the empty one, that no category has
	Numbers     []float64        // the numbers among them: cells of a numeric column
	Whole       []int64          // the whole numbers among them: cells of an integer column
	MayMiss     bool
	UnknownMiss bool // a cell that is not a category is missing
	Formed      bool // text is read in a form that the column declares
}

// MeaningOf returns the meaning of the cells of a declared column. Of csv it takes what OpenStored takes.
func MeaningOf(c *domain.Column, csv *pipeline.CSV) (Meaning, error) {
	d, err := newDialect("", csv)
	if err != nil {
		return Meaning{}, err
	}
	spelled := newMissing(c, d)
	m := Meaning{Numbers: spelled.numbers, Whole: spelled.whole, MayMiss: c.Nullable || len(c.Missing) > 0,
		UnknownMiss: d.unknownNull, Formed: newForm(c) != nil}
	find := func([]byte) (int32, bool) { return 0, false }
	if c.Type.Coded() {
		l := newLookup(c)
		m.Codes, m.Numbered, find = maps.Clone(l.spelled), l.numbers != nil, l.find
	}
	for _, s := range spelled.spelled {
		code, category := find(s)
		switch {
		case category: // a category is what it is declared to be before it is missing
			m.Codes[string(s)] = code
		case !slices.Contains(m.Missing, string(s)):
			m.Missing = append(m.Missing, string(s))
		}
	}
	return m, nil
}

// CodesOfWhole returns the codes of the categories that a whole number spells, by the number.
func (m Meaning) CodesOfWhole() map[int64]int32 {
	codes := map[int64]int32{}
	for s, code := range m.Codes {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil && strconv.FormatInt(n, 10) == s {
			codes[n] = code
		}
	}
	return codes
}

// CodesOfNumber returns the codes of the categories that a number spells, by the number. Both zeros are one number.
func (m Meaning) CodesOfNumber() map[float64]int32 {
	codes := map[float64]int32{}
	for s, code := range m.Codes {
		if x, ok := plainNumber(s); ok {
			codes[x] = code
		}
	}
	return codes
}

// MissingWhole returns the spellings of a missing category that are whole numbers.
func (m Meaning) MissingWhole() (list []int64) {
	for _, s := range m.Missing {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil && strconv.FormatInt(n, 10) == s {
			list = append(list, n)
		}
	}
	return list
}

// MissingNumber returns the spellings of a missing category that are numbers.
func (m Meaning) MissingNumber() (list []float64) {
	for _, s := range m.Missing {
		if x, ok := plainNumber(s); ok {
			list = append(list, x)
		}
	}
	return list
}

// plainNumber reads a finite number from the one spelling that a stored number has where it is held against categories.
func plainNumber(s string) (float64, bool) {
	x, ok := parseFloat([]byte(s))
	return x, ok && strconv.FormatFloat(x, 'f', -1, 64) == s && !(x == 0 && math.Signbit(x))
}

// The rules that a stored cell can break, in the words of a Problem.
const (
	RuleMissing  = ruleMissing
	RuleFinite   = ruleFinite
	RuleWhole    = ruleWhole
	RuleRange    = ruleRange
	RuleRounded  = ruleRounded
	RuleWide     = ruleWide
	RuleCategory = ruleCategory
	RuleUnknown  = ruleUnknown
	RuleSpan     = ruleSpan
)

// unlistedUnit returns the column of units where a value can become missing without being
// declared missing, and "" where none can: a cell of text or an integer keeps its value,
// and any other cell that is not a value is an error.
func unlistedUnit(dom *domain.Domain, d *dialect, unit string) string {
	if c := dom.Column(unit); c != nil && c.Type.Coded() && d.unknownNull {
		return unit
	}
	return ""
}

// recordSchema returns the schema of the records that are read.
func recordSchema(dom *domain.Domain, d *dialect) *arrow.Schema {
	s := dom.ArrowSchema()
	if d.unit == "" {
		return s
	}
	unlisted := arrow.Field{Name: pipeline.UnlistedColumn, Type: arrow.BinaryTypes.String, Nullable: true}
	return arrow.NewSchema(append(s.Fields(), unlisted), nil)
}

// newBuilders makes the builders of recordSchema: one for each column of the domain, and one
// that the builder of the unit's column fills.
func newBuilders(dom *domain.Domain, d *dialect, rows int) []builder {
	list := make([]builder, len(dom.Columns))
	for i := range dom.Columns {
		list[i] = newBuilder(&dom.Columns[i], d, rows)
	}
	if d.unit == "" {
		return list
	}
	names := &texts{nulls: nulls{allowed: true}, room: rows}
	at := dom.Index(d.unit)
	list[at] = &unitCodes{codes: list[at].(*codes), names: names}
	return append(list, names)
}

// unitCodes builds a column of codes and keeps the names that have none.
type unitCodes struct {
	*codes
	names *texts
}

func (u *unitCodes) add(v []byte) string {
	u.names.add(u.name(v))
	return u.codes.add(v)
}

// name returns nothing where v is a category or declared missing. Where categories are numbers a
// name is, too: 7 and 7.0 name one unit, listed or not. The first byte keeps numbers and texts
// apart: a cell that holds the key of a number names another unit.
func (u *unitCodes) name(v []byte) []byte {
	if _, known := u.find(v); known || u.has(v) {
		return nil
	}
	if n, ok := exactNumber(v); ok && u.numbers != nil {
		return append([]byte{'#'}, n.key()...)
	}
	return append([]byte{'='}, v...)
}
