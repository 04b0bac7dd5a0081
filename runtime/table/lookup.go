package table

import (
	"bytes"
	"slices"
	"strconv"

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
