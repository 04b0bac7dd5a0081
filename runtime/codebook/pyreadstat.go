package codebook

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"weir/internal/plaintext"
	"weir/pipeline/domain"
)

func quotedName(name string) string { return plaintext.YAML(name) }

// pyreadstat reads what the Python package of that name says of a file of SPSS, SAS or Stata: docs/draft.md has the
// line that writes it. Labels of values are codes where the file measures the column by name or by order.
func pyreadstat(e entry, _ string) Imported {
	_, top := e.keys("column_names", "column_labels", "variable_value_labels", "variable_measure", "missing_ranges",
		"missing_user_values", "readstat_variable_types", "original_variable_types")
	created := Imported{Domain: &domain.Domain{}}
	titles := top["column_labels"].list()
	columns := map[string]map[string]entry{}
	for _, key := range []string{"variable_value_labels", "variable_measure", "missing_ranges", "missing_user_values",
		"readstat_variable_types", "original_variable_types"} {
		_, columns[key] = top[key].keys()
	}
	for i, name := range top["column_names"].list() {
		s := &statColumn{column: domain.Column{Name: name.text(), Source: "public"},
			of: func(key string) entry { return columns[key][name.text()] }}
		if i < len(titles) {
			s.title = titles[i].text()
		}
		created.Domain.Columns = append(created.Domain.Columns, s.declare(e.in.file))
	}
	return created
}

// statColumn is a column of a statistics package on its way.
type statColumn struct {
	column domain.Column
	title  string
	of     func(key string) entry
}

func (s *statColumn) declare(file string) domain.Column {
	codes := s.codes()
	s.gone(codes)
	c := &s.column
	measure, format := "unknown", strings.ToUpper(s.of("original_variable_types").text())
	if e := s.of("variable_measure"); e.there() {
		measure = e.one("nominal", "ordinal", "scale", "unknown")
	}
	retained := slices.DeleteFunc(slices.Clone(codes), func(code Code) bool {
		return slices.Contains(c.Missing,
			code.Value)
	})
	switch text := strings.HasPrefix(s.of("readstat_variable_types").text(), "string"); {
	case len(retained) > 0 && measure != "scale":
		var values []string
		for _, code := range retained {
			values = append(values, code.Value)
		}
		listed(c, values, measure == "ordinal")
		s.pointed()
		c.Doc = sentence(short(s.title), labels(retained), "value labels by "+file)
		if measure == "unknown" {
			c.Source, c.Doc = domain.Undecided, sentence(short(s.title), labels(retained),
				"value labels by "+file+", which does not say whether other values occur")
		}
	case statDate(format) != "":
		dated(c, s.title, statDate(format))
		undecided(c, s.title, "bounds are not given")
	case text:
		c.Type = domain.Text
		undecided(c, s.title, "no list of values given")
	default:
		c.Type = domain.Numeric
		undecided(c, s.title, "bounds are not given")
		if len(retained) > 0 {
			undecided(c, s.title, labels(retained)+" are labelled, among numbers; bounds are not given")
		}
	}
	return *c
}

// statDate returns how pandas writes a column of days, date-times or times of SPSS, SAS or Stata; "" of any other.
func statDate(format string) string {
	switch name := strings.TrimRight(format, "0123456789."); {
	case strings.HasPrefix(format, "%TD"), slices.Contains([]string{"DATE", "ADATE", "EDATE", "SDATE", "JDATE", "DDMMYY",
		"MMDDYY", "YYMMDD"}, name):
		return "%Y-%m-%d"
	case strings.HasPrefix(format, "%TC"), name == "DATETIME", name == "YMDHMS":
		return "%Y-%m-%d %H:%M:%S"
	case name == "TIME":
		return "%H:%M:%S"
	}
	return ""
}

// codes returns the labelled values, ascending.
func (s *statColumn) codes() (list []Code) {
	names, by := s.of("variable_value_labels").keys()
	for _, name := range names {
		list = append(list, Code{plainNumber(name), by[name].spelled()})
	}
	slices.SortStableFunc(list, func(a, b Code) int {
		x, err1 := strconv.ParseFloat(a.Value, 64)
		y, err2 := strconv.ParseFloat(b.Value, 64)
		if err1 != nil || err2 != nil {
			return cmp.Compare(a.Value, b.Value)
		}
		return cmp.Compare(x, y)
	})
	return list
}

// pointed adds the spelling 9.0 of a code 9 for missing, which pandas writes of a column with gaps: among categories a
// spelling of missing means itself alone.
func (s *statColumn) pointed() {
	for _, value := range slices.Clone(s.column.Missing) {
		if _, err := strconv.Atoi(value); err == nil {
			s.column.Missing = append(s.column.Missing, value+".0")
		}
	}
}

// gone takes the values that the file declares missing: single ones, and the labelled ones of a range.
func (s *statColumn) gone(codes []Code) {
	c := &s.column
	add := func(value string) {
		if !slices.Contains(c.Missing, value) {
			c.Missing, c.Nullable = append(c.Missing, value), true
		}
	}
	for _, e := range s.of("missing_user_values").list() {
		add(plainNumber(e.spelled()))
	}
	for _, e := range s.of("missing_ranges").list() {
		_, ends := e.keys("lo", "hi")
		lo, hi := plainNumber(e.need(ends, "lo").spelled()), plainNumber(e.need(ends, "hi").spelled())
		if lo == hi {
			add(lo)
			continue
		}
		least, most := ends["lo"].number(), ends["hi"].number()
		for _, code := range codes {
			if x, err := strconv.ParseFloat(code.Value, 64); err == nil && least <= x && x <= most {
				add(code.Value)
			}
		}
	}
}
