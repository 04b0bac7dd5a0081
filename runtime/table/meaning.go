package table

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// Meaning is what cells of a column mean, as plain data: for databases that read stored cells as this package would.
type Meaning struct {
	Codes       map[string]int32 // code of each spelling that is listed; nil of a column without categories
	Numbered    bool             // categories are numbers: a cell that spells one of them otherwise is that category too
	Missing     []string         // spellings of a missing cell, beside the empty one, that no category has
	Numbers     []float64        // the numbers among them: cells of a numeric column
	Whole       []int64          // the whole numbers among them: cells of an integer column
	MayMiss     bool
	UnknownMiss bool // a cell that is no category is missing
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
