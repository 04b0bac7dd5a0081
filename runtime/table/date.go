package table

import "time"

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
	const least, greatest = -719528, 2932896 // 0000-01-01 and 9999-12-31
	if days < least || days > greatest {
		return b, false
	}
	return time.Unix(days*secondsPerDay, 0).UTC().AppendFormat(b, time.DateOnly), true
}
