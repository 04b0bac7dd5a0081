// Package plaintext says which text can be shown as it is, and makes the rest so. A
// terminal obeys control characters, XML cannot hold them, and the marks that turn the
// direction of writing make text look like other text.
package plaintext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable reports whether a name can be shown as it is: UTF-8 text without control
// characters, line breaks among them, and without marks of direction.
func Printable(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, hidden)
}

// Accepted words what Printable accepts, for messages.
const Accepted = "text without control characters and marks of direction"

// Text returns s with hidden characters spelled as escapes, such as \x1b; line breaks and tabs stay.
func Text(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return hidden(r) && r != '\n' && r != '\t' }) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n' || r == '\t' || !hidden(r) && (r != utf8.RuneError || strings.HasPrefix(s[i:], "\ufffd")):
			b.WriteRune(r)
		case r == utf8.RuneError || r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// hidden reports whether r is a control character, a mark of direction, a separator of lines or paragraphs, or a code
// point that Unicode reserves as no character.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' ||
		r == '\ufffe' || r == '\uffff'
}

// Formula reports whether a spreadsheet would compute a cell of text instead of showing
// it: such a cell can send the sheet's other cells elsewhere. Numbers and a lone
// sign do not count.
func Formula(cell string) bool {
	if len(cell) < 2 || !strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return false
	}
	_, err := strconv.ParseFloat(cell, 64)
	return err != nil
}

// YAML returns text as a JSON string, which is a YAML string too.
func YAML(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// YAMLList returns texts as the items of a YAML list, without its brackets.
func YAMLList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = YAML(s)
	}
	return strings.Join(quoted, ", ")
}
