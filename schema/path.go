package schema

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Path joins keys and list positions to a dotted path: stages.encode.min_max[1]. A key that a dot, bracket,
// quote or space would make ambiguous stands in double quotes: columns."capital.gain".bounds.
func Path(parts ...any) string {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", p)
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(quoteKey(p))
		default:
			panic(fmt.Sprintf("schema: a path is made of string and int, not %T", p))
		}
	}
	return b.String()
}

func quoteKey(k string) string {
	odd := func(r rune) bool {
		return strings.ContainsRune(".[]\"\\'", r) || unicode.IsSpace(r) || !unicode.IsPrint(r)
	}
	if k == "" || strings.ContainsFunc(k, odd) {
		return strconv.Quote(k)
	}
	return k
}

// under adds one part to a path that is shown; a key of any length is shortened.
func under(path string, part any) string {
	if key, ok := part.(string); ok {
		part = cut(key)
	}
	tail := Path(part)
	if path == "" || strings.HasPrefix(tail, "[") {
		return path + tail
	}
	return path + "." + tail
}

// Within tells whether a path is an outer one or lies below it.
func Within(path, outer string) bool {
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (outer == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Respelled is a dotted path as Path spells it, since keys may be quoted without need.
func Respelled(path string) (string, error) {
	parts, err := splitPath(path)
	return Path(parts...), err
}

// splitPath is the inverse of Path.
func splitPath(path string) ([]any, error) {
	var parts []any
	for rest := path; rest != ""; {
		if len(parts) > 0 && rest[0] == '.' {
			rest = rest[1:]
		}
		part, n, err := firstPart(rest)
		if err != nil {
			return nil, fmt.Errorf("path %q: %w", shorten(path), err)
		}
		parts = append(parts, part)
		rest = rest[n:]
		if rest != "" && rest[0] != '.' && rest[0] != '[' {
			return nil, fmt.Errorf("path %q: is %q after a part, must be a dot or [", shorten(path), shorten(rest))
		}
	}
	return parts, nil
}

// firstPart reads a key, a quoted key or [index] and says how many bytes it took.
func firstPart(s string) (part any, n int, err error) {
	switch {
	case strings.HasPrefix(s, `"`):
		q, err := strconv.QuotedPrefix(s)
		if err != nil {
			return nil, 0, fmt.Errorf("a quote is not closed")
		}
		key, err := strconv.Unquote(q)
		return key, len(q), err
	case strings.HasPrefix(s, "["):
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return nil, 0, fmt.Errorf("a bracket is not closed")
		}
		i, err := strconv.Atoi(s[1:end])
		if err != nil || i < 0 {
			return nil, 0, fmt.Errorf("is %q in brackets, must be a whole number from 0", shorten(s[1:end]))
		}
		return i, end + 1, nil
	}
	n = strings.IndexAny(s, ".[")
	if n < 0 {
		n = len(s)
	}
	if n == 0 {
		return nil, 0, fmt.Errorf("a part is empty")
	}
	return s[:n], n, nil
}

// maxQuoted is the most characters of a file that a problem quotes.
const maxQuoted = 60

// shorten cuts a text to maxQuoted characters and blanks what a terminal would not print.
func shorten(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, cut(s))
}

func cut(s string) string {
	if len(s) <= maxQuoted || utf8.RuneCountInString(s) <= maxQuoted {
		return s
	}
	return string([]rune(s[:min(len(s), utf8.UTFMax*maxQuoted)])[:maxQuoted-1]) + "…"
}
