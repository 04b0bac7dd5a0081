package table

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// pow10 are the powers of ten that a float64 holds exactly.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// digits reads an optional sign and up to 15 digits with at most one point:
// such a mantissa is exact in a float64, and so is its quotient by a power of
// ten up to 22 once rounded (Clinger 1990, the fast case). ok is false where
// the text is anything else, which need not be wrong.
func digits(v []byte) (mantissa int64, decimals int, ok bool) {
	i, point := 0, -1
	neg := len(v) > 0 && v[0] == '-'
	if neg {
		i = 1
	}
	if i == len(v) || len(v)-i > 16 {
		return 0, 0, false
	}
	first := i
	for ; i < len(v); i++ {
		switch c := v[i]; {
		case c-'0' <= 9:
			mantissa = mantissa*10 + int64(c-'0')
		case c == '.' && point < 0:
			point = i
		default:
			return 0, 0, false
		}
	}
	count := len(v) - first
	if point >= 0 {
		count--
		decimals = len(v) - 1 - point
	}
	if neg {
		mantissa = -mantissa
	}
	return mantissa, decimals, count > 0 && count <= 15
}

// parseFloat reads a finite decimal number.
func parseFloat(v []byte) (float64, bool) {
	if m, d, ok := digits(v); ok && !(m == 0 && v[0] == '-') {
		return float64(m) / pow10[d], true
	}
	if !decimal(v) {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v), 64)
	return f, err == nil && !math.IsInf(f, 0)
}

// parseInt reads a whole number, exactly; 4.0 and 1e+05 are whole.
func parseInt(v []byte) (int64, bool) {
	m, d, ok := digits(v)
	if ok && d == 0 {
		return m, true
	}
	if !decimal(v) {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return n, true
	}
	n, ok := exactNumber(v)
	if !ok {
		return 0, false
	}
	return n.whole()
}

// exact is a decimal number, sign digits * 10^power, in the one form that begins and ends
// with a digit other than 0; zero has no digits. Two spellings give equal values exactly if
// they are one number, however many digits they have: a float64 would make one of two.
type exact struct {
	minus  bool
	digits string
	power  int
}

// exactNumber reads any decimal number.
func exactNumber(v []byte) (n exact, ok bool) {
	if len(v) > 0 && (v[0] == '-' || v[0] == '+') {
		n.minus, v = v[0] == '-', v[1:]
	}
	if e := bytes.IndexAny(v, "eE"); e >= 0 {
		power, err := strconv.ParseInt(string(v[e+1:]), 10, 32)
		if err != nil {
			return exact{}, false
		}
		n.power, v = int(power), v[:e]
	}
	whole, part, _ := bytes.Cut(v, []byte{'.'})
	digits := string(whole) + string(part)
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return exact{}, false
	}
	n.digits = strings.TrimRight(digits, "0")
	n.power += len(digits) - len(n.digits) - len(part)
	if n.digits = strings.TrimLeft(n.digits, "0"); n.digits == "" {
		return exact{}, true // of both zeros
	}
	return n, true
}

// whole is the number where it is a whole one of 64 bits.
func (n exact) whole() (int64, bool) {
	if n.power < 0 || n.power > 18 {
		return 0, false
	}
	i, err := strconv.ParseInt(n.plain(), 10, 64)
	return i, err == nil
}

// key spells the number, and no other.
func (n exact) key() []byte { return fmt.Appendf(nil, "%t %s %d", n.minus, n.digits, n.power) }

// plain spells a whole number.
func (n exact) plain() string {
	text := n.digits + strings.Repeat("0", n.power)
	switch {
	case text == "":
		return "0"
	case n.minus:
		return "-" + text
	}
	return text
}

// decimal reports whether v is spelled with the characters of decimal numbers
// only: strconv would also take 0x10, 1_000, inf and nan.
func decimal(v []byte) bool {
	for _, c := range v {
		if c-'0' > 9 && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return false
		}
	}
	return len(v) > 0
}

// notFinite reports whether v spells a number that is not finite.
func notFinite(v []byte) bool {
	if decimal(v) {
		return false
	}
	f, err := strconv.ParseFloat(string(v), 64)
	return err == nil && (math.IsInf(f, 0) || math.IsNaN(f))
}
