package table

import (
	"math"
	"strconv"
	"time"

	"weir/pipeline"
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

// parseInt reads a whole number; 4.0 and 1e+05 are whole.
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
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
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

const secondsPerDay = 24 * 60 * 60

// parseDate reads YYYY-MM-DD as days since 1970-01-01, in the proleptic
// Gregorian calendar (ISO 8601).
func parseDate(v []byte) (int64, bool) {
	if len(v) != 10 || v[4] != '-' || v[7] != '-' {
		return 0, false
	}
	t, err := time.Parse(time.DateOnly, string(v))
	if err != nil {
		return 0, false
	}
	return t.Unix() / secondsPerDay, t.Unix()%secondsPerDay == 0
}

// appendDate is the inverse; ok is false outside years 0 to 9999.
func appendDate(b []byte, days int64) ([]byte, bool) {
	if days < pipeline.FirstDay || days > pipeline.LastDay {
		return b, false
	}
	return time.Unix(days*secondsPerDay, 0).UTC().AppendFormat(b, time.DateOnly), true
}
