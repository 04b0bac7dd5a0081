package pipeline

import (
	"unicode"
	"unicode/utf8"
)

// Printable reports whether a name can be shown as it is: UTF-8 text without
// control characters, which a terminal obeys and XML cannot hold, and without the
// marks that turn the direction of writing, which make text look like other text.
func Printable(name string) bool {
	for _, r := range name {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' || r == '\ufffe' || r == '\uffff' {
			return false
		}
	}
	return utf8.ValidString(name)
}
